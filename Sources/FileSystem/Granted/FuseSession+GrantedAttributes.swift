internal import CFuseShim
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Attributes of documents of other containers.
extension FuseSession {
    /// What the app may read of the owner's own attributes, behind `user.shapeedit.`.
    private static let readable: Set<String> = [
        "id", "state", "progress", "progress.bytes", "title", "thumbnail", "thumbnail.state",
        "type", "version",
        "error", "error.kind",
        "container", "container.id",
    ]

    /// Those of them that are about a version's picture.
    private static let pictures: Set<String> = ["thumbnail", "thumbnail.state"]

    private static func time(_ moment: Settings.Moment?) -> timespec {
        switch moment {
        case nil: SpecialTime.omitted
        case .now: SpecialTime.now
        case .at(let timestamp): timespec(timestamp)
        }
    }

    func setGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ handle: UInt64?,
        _ wanted: Settings
    ) throws(Errno) {
        let node = try granted.node(number)
        let (settings, flags) = try Self.allowed(wanted, of: node, granted)
        if node.isFolder, flags == nil {
            return request.answer(attributes: granted.folderEntry(node, counted: false))
        }
        let times = [Self.time(settings.accessed), Self.time(settings.modified)]
        let file = try handle.map { (handle) throws(Errno) in try granted.file(handle) }
        if file == nil, settings.size != nil,
            try Self.isSentRound(request, granted, node)
        {
            throw Errno(ESTALE)
        }
        let change: @Sendable (Int32) throws(Errno) -> Void = { (descriptor) throws(Errno) in
            if let size = settings.size { try check { ftruncate(descriptor, off_t(size)) } }
            if settings.accessed != nil || settings.modified != nil {
                try check { futimens(descriptor, times) }
            }
            if let mode = settings.mode { try check { fchmod(descriptor, mode & 0o7777) } }
            if settings.user != nil || settings.group != nil {
                try check {
                    fchown(descriptor, settings.user ?? uid_t.max, settings.group ?? gid_t.max)
                }
            }
        }
        forwardSteps(request, granted, to: node.owner) { [self] (ticket) throws(Errno) in
            // What the program was told has come to nothing does not happen when the owner goes on.
            let decide = { () throws(Errno) in
                try granted.forwarding.goOn(ticket, toTheEnd: true)
            }
            if flags != nil, let file, file.writes {
                // A check of its own: the handle stays good when the grant has gone.
                try Self.requireGrant(file, granted, writes: true)
                try decide()
                do throws(Errno) { try change(file.descriptor.number) } catch {
                    throw GrantOwners.answer(error)
                }
                if file.document == nil, settings.size != nil { file.noteChange() }
            } else if let flags {
                try granted.owners.on(node, shared: true) { (path) throws(Errno) in
                    let opened = try OwnedDescriptor.open(path, flags | O_NOCTTY)
                    try decide()
                    try change(opened.number)
                    noteOwn(node.document, of: node.owner, opened)
                }
            }
            return try described(request, granted, node, counted: false)
        }
    }

    /// What is set of what is wanted for a node, and the flags with which its file is opened for that;
    /// `nil` if nothing is set.
    ///
    /// - Throws: EPERM if the rights or the owner of a document or folder would change; EROFS for
    ///   pictures.
    private static func allowed(
        _ wanted: Settings, of node: GrantedNode, _ granted: GrantedTree
    ) throws(Errno) -> (settings: Settings, flags: Int32?) {
        switch node {
        case .pictures, .picture: throw Errno(EROFS)
        case .scratch: return (wanted, wanted.size == nil ? O_RDONLY : O_WRONLY)
        case .document, .folder:
            // Rights and owners are the owner's matter; what changes nothing is what editors do.
            let now: stat? =
                node.isFolder
                ? granted.folderEntry(node, counted: false).status : granted.lastShown(node)
            if let shown = now {
                guard wanted.mode.map({ $0 & 0o7777 == shown.st_mode & 0o7777 }) ?? true,
                    wanted.user.map({ $0 == shown.st_uid }) ?? true,
                    wanted.group.map({ $0 == shown.st_gid }) ?? true
                else { throw Errno(EPERM) }
            }
            let changes = wanted.size != nil || wanted.accessed != nil || wanted.modified != nil
            let settings = Settings(
                size: wanted.size, accessed: wanted.accessed, modified: wanted.modified)
            return (settings, changes ? O_WRONLY : nil)
        }
    }

    /// Runs a call on the path of what a node stands for, for a request.
    private func onGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, shared: Bool,
        _ call: @escaping @Sendable (String) throws(Errno) -> Forwarding.Outcome
    ) throws(Errno) {
        let node = try granted.node(number)
        forward(request, granted, to: node.owner) { () throws(Errno) in
            try granted.owners.on(node, shared: shared, call)
        }
    }

    func getGrantedAttribute(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ name: String, _ room: Int
    ) throws(Errno) {
        let node = try granted.node(number)
        let owner = node.owner
        let prefix = String(decoding: Volume.ownPrefix, as: UTF8.self)
        let key = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
        if key == "container" { return request.answer(attribute: Array(owner.utf8), room: room) }
        if key == "error" {
            return forward(request, granted, to: owner) { () throws(Errno) in
                let value: [UInt8]
                if let problem = granted.owners.problem(of: owner) {
                    value = Array(problem.utf8)
                } else {
                    guard let document = node.document else { throw Errno(ENODATA) }
                    value = try granted.owners.on(document, of: owner, shared: false) {
                        (path) throws(Errno) in try PathAttributes.value(name, of: path)
                    }
                }
                return { if $0 { request.answer(attribute: value, room: room) } }
            }
        }
        switch node {
        case .folder, .pictures, .picture: throw Errno(ENODATA)
        case .document: guard key.map(Self.readable.contains) ?? true else { throw Errno(ENODATA) }
        case .scratch: if key != nil { throw Errno(ENODATA) }
        }
        guard name.hasPrefix("user.") else { throw Errno(EOPNOTSUPP) }
        if let key, Self.pictures.contains(key) {
            return forward(request, granted, to: owner) { () throws(Errno) in
                let value = try Self.picture(name, of: node, granted)
                return { if $0 { request.answer(attribute: value, room: room) } }
            }
        }
        forward(request, granted, to: owner) { () throws(Errno) in
            let value = try Self.reading(node, granted) { (path) throws(Errno) in
                try PathAttributes.value(name, of: path)
            } ifRemoved: { (open) throws(Errno) in
                try open.value(ofAttribute: name)
            }
            return { if $0 { request.answer(attribute: value, room: room) } }
        }
    }

    /// Reads of what a node stands for by its path; where its owner has removed it, for those who have it open by
    /// what they have.
    private static func reading<Value>(
        _ node: GrantedNode, _ granted: GrantedTree, _ named: (String) throws(Errno) -> Value,
        ifRemoved: (borrowing OwnedDescriptor) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        do throws(Errno) { return try granted.owners.on(node, shared: false, named) } catch {
            guard error.code == ENOENT, let open = stillOpen(node, granted) else { throw error }
            try requireGrant(open, granted)
            do throws(Errno) { return try ifRemoved(open.descriptor) } catch {
                throw GrantOwners.answer(error)
            }
        }
    }

    /// What an attribute says of the picture of a document's node: of the version that it is, also where that
    /// is only still open. Of one that is not open any more either, it is of the current one.
    private static func picture(
        _ name: String, of node: GrantedNode, _ granted: GrantedTree
    ) throws(Errno) -> [UInt8] {
        guard case .document(let owner, let document, let version) = node else {
            throw Errno(ENODATA)
        }
        let found = try granted.owners.look(document, of: owner)
        // By its path.
        defer { withExtendedLifetime(found) {} }
        if let version, version != found.content,
            let open = granted.files(of: document, in: owner).first(where: { file in
                (try? GrantOwners.content(of: file.descriptor)) == version
            })
        {
            do throws(Errno) { return try open.descriptor.value(ofAttribute: name) } catch {
                throw GrantOwners.answer(error)
            }
        }
        return try PathAttributes.value(name, of: found.path)
    }

    func listGrantedAttributes(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ room: Int
    ) throws(Errno) {
        switch try granted.node(number) {
        case .folder, .pictures, .picture: return request.answer(attribute: [], room: room)
        case .document, .scratch: break
        }
        let node = try granted.node(number)
        forward(request, granted, to: node.owner) { () throws(Errno) in
            let names = try Self.reading(node, granted) { (path) throws(Errno) in
                try PathAttributes.names(of: path)
            } ifRemoved: {
                $0.attributeNames
            }
            let list = names.filter { $0.hasPrefix("user.") }.flatMap {
                (name: String) -> [UInt8] in name.pathBytes + [0]
            }
            return { if $0 { request.answer(attribute: list, room: room) } }
        }
    }

    /// - Parameters:
    ///   - value: `nil` takes the attribute away.
    ///   - flags: XATTR_CREATE (1) and XATTR_REPLACE (2).
    func setGrantedAttribute(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ name: String,
        _ value: [UInt8]?, flags: Int32 = 0
    ) throws(Errno) {
        if name.hasPrefix(String(decoding: Volume.ownPrefix, as: UTF8.self)) { throw Errno(EPERM) }
        // As everywhere in a mount: who copies permissions does without ACLs then.
        guard name.hasPrefix("user.") else { throw Errno(EOPNOTSUPP) }
        try onGranted(request, granted, number, shared: true) { (path) throws(Errno) in
            if let value {
                let isThere = (try? PathAttributes.value(name, of: path)) != nil
                if flags & 1 != 0, isThere { throw Errno(EEXIST) }
                if flags & 2 != 0, !isThere { throw Errno(ENODATA) }
                try PathAttributes.set(name, value, of: path)
            } else {
                try PathAttributes.remove(name, of: path)
            }
            return { if $0 { request.succeed() } }
        }
    }
}
