internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Extended attributes: the user's own `user.*`, and what ShapeEdit tells under `user.shapeedit.*`
/// (not listed, so that copying a file with its attributes does not try to set them).
extension Volume {
    static let ownPrefix = Array("user.shapeedit.".utf8)
    private static let trustedPrefix = Array("trusted.".utf8)

    /// The value, or ENODATA.
    func attribute(_ node: NodeNumber, _ name: [UInt8], _ caller: Caller) throws(Errno) -> [UInt8] {
        if let value = try pictures?.attribute(node, name) { return value }
        if name.starts(with: Self.ownPrefix) {
            let key = String(path: name.dropFirst(Self.ownPrefix.count))
            if let (mark, version) = VersionMark.parse(key) {
                return Array(try versionMark(mark, version).utf8)
            }
            if key == "title" { return Array(try title(node).utf8) }
            if key == "conflicts" { return Array(try conflictNames(node).utf8) }
            if let application = Self.bookmarkApplication(key) {
                return Array(try bookmarkToken(node, for: application).utf8)
            }
            if let application = Self.grantedApplication(key) {
                return Array(try grantTerms(node, for: application).utf8)
            }
            if let terms = try grantedAttribute(key) { return Array(terms.utf8) }
            if let value = try storeAttribute(node, key) { return value.pathBytes }
            if key.hasPrefix(Self.queryPrefix), node.item == .root {
                // Others cannot look into the folder of queries either.
                if !caller.ownsMount { throw Errno(EACCES) }
                let name = String(key.dropFirst(Self.queryPrefix.count))
                return Array(try savedQuery(name).description.utf8)
            }
            guard let value = try ownAttribute(node, key) else { throw Errno(ENODATA) }
            return Array(value.utf8)
        }
        return try read { (state) throws(Errno) in
            let position = try state.position(node)
            guard state.index[item: position].pointee.flags.contains(.hasAttributes),
                let value = state.index.attributes[position]?[name]
            else {
                if Self.isBare(name) { throw Errno(EINVAL) }
                throw Self.isUsers(name) ? Errno(ENODATA) : Errno(EOPNOTSUPP)
            }
            return value
        }
    }

    /// Whether a missing attribute of this name is just missing. Of the others (ACLs, security
    /// labels) tools are told that there are none here at all: `ls -l` then stops asking for every
    /// file.
    private static func isUsers(_ name: [UInt8]) -> Bool {
        name.starts(with: Array("user.".utf8)) || name.starts(with: trustedPrefix)
    }

    /// Whether there is nothing behind the prefix.
    private static func isBare(_ name: [UInt8]) -> Bool {
        name == Array("user.".utf8) || name == trustedPrefix
    }

    private func ownAttribute(_ node: NodeNumber, _ key: String) throws(Errno) -> String? {
        try read { (state) throws(Errno) in
            ownAttribute(state, node, try state.position(node), key)
        }
    }

    private func ownAttribute(
        _ state: VolumeState, _ node: NodeNumber, _ position: MemoryIndex.Position, _ key: String
    ) -> String? {
        let record = state.index[item: position]
        switch key {
        case "id": return DocumentID(rawValue: record.pointee.document).description
        case "container": return container.name
        case "container.id": return state.bookmarks.containerID
        case "version":
            guard record.pointee.isRegular else { return nil }
            // Who has an earlier version open asks about that one.
            return String(state.oldNode(node)?.content.node.ordinal ?? record.pointee.ordinal)
        case "type":
            guard record.pointee.isRegular, record.pointee.firstName != 0 else { return nil }
            let name = state.index.nameBytes(record.pointee.firstName)
            guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
            return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        default: return nil
        }
    }

    /// The names, each with a NUL behind it.
    func attributeNames(_ node: NodeNumber, _ caller: Caller) throws(Errno) -> [UInt8] {
        try read { (state) throws(Errno) in
            let position = try state.position(node)
            return (state.index.attributes[position] ?? [:]).keys
                .filter { Self.isListed($0, for: caller) }
                .sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 + [0] }
        }
    }

    /// Whether a program is told that there is this attribute. `trusted.*` only root can read: others
    /// would find it and fail to copy it.
    private static func isListed(_ name: [UInt8], for caller: Caller) -> Bool {
        if name.starts(with: ownPrefix) { return false }
        return caller.user == 0 || !name.starts(with: trustedPrefix)
    }

    /// setxattr(2); `flags` are XATTR_CREATE (1) and XATTR_REPLACE (2).
    func setAttribute(
        _ node: NodeNumber, _ name: [UInt8], _ value: [UInt8], flags: Int32, _ caller: Caller
    ) throws(Errno) -> [NodeNumber] {
        if name.starts(with: Self.ownPrefix) {
            let key = String(path: name.dropFirst(Self.ownPrefix.count))
            let text = String(decoding: value, as: UTF8.self)
            if let (mark, version) = VersionMark.parse(key) {
                try setVersionMark(mark, node, version, text, caller)
                return []
            }
            if key == "apart" || key == "draft" {
                try follow(key, text, node, caller)
                return []
            }
            if key == "bookmark" {
                try makeBookmark(node, for: text, caller)
                return []
            }
            if let application = Self.grantedApplication(key) {
                try setGrant(node, for: application, text, caller)
                return []
            }
            if key.hasPrefix(Self.queryPrefix) {
                let name = String(key.dropFirst(Self.queryPrefix.count))
                return try saveQuery(node, name, String(path: value), flags: flags, caller)
            }
            return try setStoreAttribute(node, key, text, caller)
        }
        try checkSettable(name, caller)
        return try keep(node, name, value, flags: flags, caller)
    }

    /// Does what an instruction for a document says. With ` quietly` behind it this throws EINPROGRESS when it
    /// is done: a success would have the kernel tell all who watch the document that its attributes are others.
    private func follow(
        _ key: String, _ text: String, _ node: NodeNumber, _ caller: Caller
    ) throws(Errno) {
        let quietly = " quietly"
        let isQuiet = text.hasSuffix(quietly)
        let word = isQuiet ? String(text.dropLast(quietly.count)) : text
        if key == "apart" {
            try keepApart(node, word, caller)
        } else {
            try setDraft(node, word, caller)
        }
        if isQuiet { throw Errno(EINPROGRESS) }
    }

    /// Puts an attribute among those that last.
    func keep(
        _ node: NodeNumber, _ name: [UInt8], _ value: [UInt8], flags: Int32 = 0, _ caller: Caller
    ) throws(Errno) -> [NodeNumber] {
        if value.count > Limits.attribute { throw Errno(E2BIG) }
        return try change(growing: true) { (state) throws(Errno) in
            let position = try state.position(node)
            let record = state.index[item: position]
            if !record.pointee.isRegular, !record.pointee.isDirectory,
                name.starts(with: Array("user.".utf8))
            {
                throw Errno(EPERM)
            }
            var all = state.index.attributes[position] ?? [:]
            if flags & 1 != 0, all[name] != nil { throw Errno(EEXIST) }
            if flags & 2 != 0, all[name] == nil { throw Errno(ENODATA) }
            // As on ext4 the file is not changed by it.
            if all[name] == value { return ([], log.head) }
            all[name] = value
            if all.reduce(0, { $0 + $1.key.count + $1.value.count }) > Limits.attributes {
                throw Errno(ENOSPC)
            }
            state.index.attributes[position] = all
            record.pointee.flags.insert(.hasAttributes)
            return changedAttributes(
                state, position, node, caller, .putAttribute(node.item, name: name, value: value))
        }
    }

    /// removexattr(2).
    func removeAttribute(_ node: NodeNumber, _ name: [UInt8], _ caller: Caller) throws(Errno)
        -> [NodeNumber]
    {
        if name == Self.pinAttribute {
            return try setStoreAttribute(node, "pin", Pin.usual.rawValue, caller)
        }
        if name.starts(with: Self.ownPrefix) {
            let key = String(path: name.dropFirst(Self.ownPrefix.count))
            if let application = Self.grantedApplication(key) {
                try revokeGrant(node, from: application, caller)
                return []
            }
            if node.item == .root, key.hasPrefix(Self.queryPrefix) {
                return try forgetQuery(
                    String(key.dropFirst(Self.queryPrefix.count)), isTold: false, caller)
            }
        }
        try checkSettable(name, caller)
        return try letGo(node, name, caller)
    }

    /// Takes an attribute from those that last; ENODATA if it is not there.
    func letGo(_ node: NodeNumber, _ name: [UInt8], _ caller: Caller) throws(Errno)
        -> [NodeNumber]
    {
        try change { (state) throws(Errno) in
            let position = try state.position(node)
            guard state.index.attributes[position]?.removeValue(forKey: name) != nil else {
                throw Errno(ENODATA)
            }
            if state.index.attributes[position]?.isEmpty == true {
                state.index.attributes[position] = nil
                state.index[item: position].pointee.flags.remove(.hasAttributes)
            }
            return changedAttributes(
                state, position, node, caller, .removeAttribute(node.item, name: name))
        }
    }

    private func changedAttributes(
        _ state: VolumeState, _ position: MemoryIndex.Position, _ node: NodeNumber,
        _ caller: Caller, _ effect: Effect
    ) -> ([NodeNumber], ChangeSequence) {
        let time = VolumeState.now()
        state.stamp(position, time)
        state.noteOtherNodes(.attributes, position, but: node)
        let sequence = state.record(
            .extendedAttributes, position, process: CallerProcess.process(of: caller.thread),
            at: time, [effect])
        return (state.otherNodes(position, than: node), sequence)
    }

    private func checkSettable(_ name: [UInt8], _ caller: Caller) throws(Errno) {
        if name.count > Limits.name { throw Errno(ERANGE) }
        if Self.isBare(name) { throw Errno(EINVAL) }
        if name.starts(with: Self.ownPrefix) { throw Errno(EPERM) }
        if name.starts(with: Array("user.".utf8)) { return }
        // trusted.* only from the superuser, as the kernel has checked; no ACLs. Who may give capabilities it
        // has checked too, and it takes them away for whoever changes the owner or group.
        if name.starts(with: Self.trustedPrefix), caller.user == 0 { return }
        if name == Array("security.capability".utf8) { return }
        throw Errno(EOPNOTSUPP)
    }
}
