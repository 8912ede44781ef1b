internal import Catalog
internal import Coordination
internal import Model
internal import PathText
internal import Pictures
internal import Thumbnailing

// The entries of one document, or of one path.
extension DesktopEntries {
    /// Names of a document that get entries; those of hard links.
    private static let nameLimit = 64

    /// A document by one of its names.
    struct Named {
        var subject: PictureSubject
        /// From the mount's root.
        var path: [UInt8]
        /// Whether the user who mounted may read it by this name.
        var isReadable: Bool
    }

    private func names(of item: ItemNumber) -> [Named] {
        volume.state.withLock { state in
            let position = state.index.find(item)
            guard position != 0 else { return [] }
            var found: [Named] = []
            var name = state.index[item: position].pointee.firstName
            while name != 0, found.count < Self.nameLimit {
                let bytes = Array(state.index.nameBytes(name))
                let directory = state.index[name: name].pointee.parent
                if let subject = state.pictureSubject(position, named: bytes),
                    let above = state.index.path(of: directory)
                {
                    found.append(
                        Named(
                            subject: subject, path: (above.isEmpty ? [] : above + [47]) + bytes,
                            isReadable: reader.mayRead(position, in: directory, state.index)))
                }
                name = state.index[name: name].pointee.nextOfItem
            }
            return found
        }
    }

    /// Writes the entries of a document as they have to be now, by each of its names, or removes them.
    func write(_ item: ItemNumber) {
        let names = names(of: item)
        var hasEntries = false
        for name in names {
            if write(name) { hasEntries = true }
        }
        if hasEntries {
            remember(item)
        } else if names.allSatisfy(\.isReadable) {
            // Others stay: when they can be read again, nothing but their attributes tells.
            state.withLock { _ = $0.written.remove(item) }
        }
    }

    /// The same for one name; whether it has entries now.
    func write(_ name: Named) -> Bool {
        let subject = name.subject
        var entries: [DesktopCache.Size: [UInt8]] = [:]
        if name.isReadable, !isTemporaryName(subject.fileName) {
            for size in DesktopCache.Size.allCases {
                if let pixels = PictureSize(rawValue: size.pixels),
                    let bytes = shelf.bytes(subject.node, subject.type, pixels)
                {
                    entries[size] = bytes
                }
            }
        }
        if entries.isEmpty {
            for path in texts(name.path) { try? cache.remove(path: path) }
            return false
        }
        // Also where not all of them can be written: those that are there have to follow.
        for path in texts(name.path) { try? cache.write(entries, for: facts(path, subject)) }
        return true
    }

    func facts(_ path: String, _ subject: PictureSubject) -> DesktopCache.Subject {
        let version = [
            volume.container.name, subject.node.fileName, String(PictureFile.revision),
        ]
        return DesktopCache.Subject(
            path: path, modified: subject.modified.seconds, size: subject.size,
            version: version.joined(separator: "/"))
    }

    func remember(_ item: ItemNumber) {
        state.withLock { state in
            if state.written.count >= Self.rememberedLimit { state.written = [] }
            state.written.insert(item)
        }
    }

    func isDrawn(_ subject: PictureSubject) -> Bool {
        guard let head = shelf.head(subject.node, subject.type) else { return false }
        return head.failure == nil
    }

    /// A path is not what it was: the entries go, or are those of what has it now.
    func clear(_ path: [UInt8]) {
        for path in texts(path) { try? cache.remove(path: path) }
        if let other = occupant(of: path) { write(other) }
    }

    /// After an unclean end the notes of what went before it are lost: its entries go now.
    func removeLost() {
        let goesOn = { [state] in !state.withLock { $0.ended } }
        for path in cache.paths(ofVersionsWith: volume.container.name + "/", while: goesOn) {
            guard goesOn() else { return }
            let points = mountPoints.map { ($0 + "/").pathBytes }
            guard let point = points.first(where: { path.starts(with: $0) }),
                occupant(of: Array(path.dropFirst(point.count))) == nil
            else { continue }
            try? cache.remove(path: String(path: path))
        }
    }

    func occupant(of path: [UInt8]) -> ItemNumber? {
        volume.state.withLock { state in
            let position = state.index.item(at: path)
            guard position != 0, state.index[item: position].pointee.isRegular else { return nil }
            return state.number(position)
        }
    }

    /// A path from the mount's root as file managers name it.
    func texts(_ path: [UInt8]) -> [String] {
        let rest = "/" + String(path: path)
        return mountPoints.map { $0 + rest }
    }
}
