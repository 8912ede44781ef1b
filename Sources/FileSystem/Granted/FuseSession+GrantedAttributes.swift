internal import CFuseShim
internal import Glibc
internal import Model
internal import SystemCalls

/// Attributes of documents of other containers.
extension FuseSession {
    /// What the app may read of the owner's own attributes, behind `user.shapeedit.`.
    private static let readable: Set<String> = [
        "id", "state", "progress", "title", "thumbnail", "thumbnail.state", "type", "version",
        "error",
        "container",
    ]

    /// What of utimensat(2) leaves a time as it is, and sets it to now; the C library hides them.
    private static let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
    private static let now = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1)

    private static func time(_ moment: Settings.Moment?) -> timespec {
        switch moment {
        case nil: omitted
        case .now: now
        case .at(let timestamp): timespec(timestamp)
        }
    }

    func setGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ handle: UInt64?,
        _ settings: Settings
    ) throws(Errno) {
        guard case .document(let owner, let document) = try granted.node(number) else {
            throw Errno(EPERM)
        }
        // Rights and owners are the owner's matter; what changes nothing is what editors do.
        if let shown = granted.lastShown(.document(owner: owner, document)) {
            guard settings.mode.map({ $0 & 0o7777 == shown.st_mode & 0o7777 }) ?? true,
                settings.user.map({ $0 == shown.st_uid }) ?? true,
                settings.group.map({ $0 == shown.st_gid }) ?? true
            else { throw Errno(EPERM) }
        }
        let times = [Self.time(settings.accessed), Self.time(settings.modified)]
        let file = try handle.map { (handle) throws(Errno) in try granted.file(handle) }
        let change: @Sendable (Int32) throws(Errno) -> Void = { (descriptor) throws(Errno) in
            if let size = settings.size { try check { ftruncate(descriptor, off_t(size)) } }
            if settings.accessed != nil || settings.modified != nil {
                try check { futimens(descriptor, times) }
            }
        }
        let changes = settings.size != nil || settings.accessed != nil || settings.modified != nil
        forward(request, granted, to: owner) { [self] () throws(Errno) in
            if changes, let file, file.writes {
                // A check of its own: the handle stays good when the grant has gone.
                let terms = try? file.descriptor.value(
                    ofAttribute: granted.owners.attribute(of: document))
                guard terms?.starts(with: Array("write".utf8)) == true else { throw Errno(EACCES) }
                do throws(Errno) { try change(file.descriptor.number) } catch {
                    throw GrantOwners.answer(error)
                }
            } else if changes {
                try granted.owners.on(document, of: owner, shared: true) { (path) throws(Errno) in
                    let opened = try OwnedDescriptor.open(path, O_WRONLY | O_NOCTTY)
                    try change(opened.number)
                }
            }
            return try described(request, granted, owner, document, counted: false)
        }
    }

    /// Runs a call on the path of a document, for a request.
    private func onGranted(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, shared: Bool,
        _ call: @escaping @Sendable (String) throws(Errno) -> Forwarding.Outcome
    ) throws(Errno) {
        guard case .document(let owner, let document) = try granted.node(number) else {
            throw Errno(EPERM)
        }
        forward(request, granted, to: owner) { () throws(Errno) in
            try granted.owners.on(document, of: owner, shared: shared, call)
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
                    guard case .document(_, let document) = node else { throw Errno(ENODATA) }
                    value = try granted.owners.on(document, of: owner, shared: false) {
                        (path) throws(Errno) in try PathAttributes.value(name, of: path)
                    }
                }
                return { if $0 { request.answer(attribute: value, room: room) } }
            }
        }
        guard case .document = node, key.map(Self.readable.contains) ?? true else {
            throw Errno(ENODATA)
        }
        guard name.hasPrefix("user.") else { throw Errno(EOPNOTSUPP) }
        try onGranted(request, granted, number, shared: false) { (path) throws(Errno) in
            let value = try PathAttributes.value(name, of: path)
            return { if $0 { request.answer(attribute: value, room: room) } }
        }
    }

    func listGrantedAttributes(
        _ request: Request, _ granted: GrantedTree, _ number: UInt64, _ room: Int
    ) throws(Errno) {
        guard case .document = try granted.node(number) else {
            return request.answer(attribute: [], room: room)
        }
        try onGranted(request, granted, number, shared: false) { (path) throws(Errno) in
            let names = try PathAttributes.names(of: path).filter { $0.hasPrefix("user.") }
            let list = names.flatMap { Array($0.utf8) + [UInt8(0)] }
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
        guard name.hasPrefix("user."),
            !name.hasPrefix(String(decoding: Volume.ownPrefix, as: UTF8.self))
        else { throw Errno(EPERM) }
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
