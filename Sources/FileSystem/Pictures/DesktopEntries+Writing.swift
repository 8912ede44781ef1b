internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls
internal import Thumbnailing

// The entries of one document, or of one path.
extension DesktopEntries {
    /// Names of a document that get entries; those of hard links.
    static let nameLimit = 64

    /// A document by one of its names.
    struct Named {
        var subject: PictureSubject
        /// From the mount's root.
        var path: [UInt8]
        /// Whether the user who mounted may read it by this name.
        var isReadable: Bool
        /// It is that of a link.
        var isLink = false
    }

    func names(of item: ItemNumber) -> [Named] {
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
            guard let first = found.first else { return [] }
            return found
                + linkedNames(
                    of: first.subject, isReadable: found.contains(where: \.isReadable), state.index)
        }
    }

    /// Whether a document has entries, or had.
    func hasEntries(_ item: ItemNumber) -> Bool {
        let names = names(of: item)
        return state.withLock { state in
            names.contains { state.mayHaveEntries($0.subject.document) }
        }
    }

    /// Writes the entries of a document as they have to be now, by each of its names, or removes them.
    func write(_ item: ItemNumber) {
        let names = names(of: item)
        if names.isEmpty { removeLinked(item) }
        for name in names { write(name) }
    }

    /// The same for one name.
    func write(_ name: Named) {
        let subject = name.subject
        let mayHave = name.isReadable && !isTemporaryName(subject.fileName)
        var entries: [DesktopCache.Size: [UInt8]] = [:]
        if mayHave {
            for size in DesktopCache.Size.allCases {
                if let pixels = PictureSize(rawValue: size.pixels),
                    let bytes = shelf.bytes(subject.node, subject.type, pixels)
                {
                    entries[size] = bytes
                }
            }
        }
        if entries.isEmpty {
            if standIn(for: name) { return }
            let had = remove(name.path)
            if mayHave { replace(of: subject, had) }
            if !name.isReadable { noteUnreadable([subject]) }
            return
        }
        // Also where not all of them can be written: those that are there have to follow.
        for path in texts(name.path) { put(entries, facts(path, subject)) }
        let isFirst = state.withLock { $0.mayBeStoodFor(subject.document) }
        remember(subject.document, subject.node)
        standIn(for: name, beside: entries)
        guard isFirst else { return }
        // What stood for the others is gone.
        volume.pictures?.completeLater(subject.node)
        // File managers show that until they are told of the document.
        if !subject.isPromise, !name.isLink { volume.replayer?.add(path: name.path) }
    }

    /// Removes the entries of a path; says whether there were any.
    private func remove(_ path: [UInt8]) -> Bool {
        texts(path).filter { remove($0) }.isEmpty == false
    }

    @discardableResult
    func remove(_ text: String) -> Bool { (try? cache.remove(path: text, ifIn: watch)) == true }

    /// Has a version drawn if there is no picture of it, and entries that were the document's went: it
    /// gets others when nothing was published for a while.
    private func replace(of subject: PictureSubject, _ had: Bool) {
        guard had || state.withLock({ $0.written[subject.document] != nil }),
            shelf.head(subject.node, subject.type) == nil
        else { return }
        // A version that follows meanwhile is to have them, too.
        remember(subject.document, NodeNumber(subject.item, 0))
        volume.pictures?.completeLater(subject.node)
    }

    /// Writes entries, and notes why that failed.
    func put(
        _ pictures: [DesktopCache.Size: [UInt8]], _ facts: DesktopCache.Subject,
        in sizes: [DesktopCache.Size] = DesktopCache.Size.allCases
    ) {
        var failure: Errno?
        do throws(DesktopCache.Failure) {
            try cache.write(pictures, for: facts, in: sizes)
        } catch {
            // A picture that is none is its drawer's fault.
            guard case .system(let error) = error else { return }
            failure = error
        }
        problem.withLock { $0 = failure }
    }

    /// Why no entries can be written; nil if they can. Nothing may have to be written for long after the folders
    /// were repaired, or there is room again, so that is looked at. What a user's quota leaves, only a write tells.
    var presentProblem: String? {
        problem.withLock { problem in
            let isOver =
                switch problem?.code {
                case EACCES, EEXIST, ELOOP, ENOENT, ENOTDIR, EROFS: cache.isWritable
                case ENOSPC: cache.hasRoom
                default: false
                }
            if isOver { problem = nil }
            return problem.map { "\(cache.folder.repairedPath): \($0)" }
        }
    }

    func facts(_ path: String, _ subject: PictureSubject) -> DesktopCache.Subject {
        let version = [
            volume.container.name, subject.node.fileName,
            "\(PictureFile.revision).\(DesktopCache.revision)",
        ]
        return DesktopCache.Subject(
            path: path, modified: subject.modified.seconds,
            microseconds: subject.modified.nanoseconds / 1_000, size: subject.size,
            version: version.joined(separator: "/"))
    }

    func remember(_ document: DocumentID, _ version: NodeNumber) {
        state.withLock { state in
            if state.written.count >= Self.rememberedLimit {
                state.written = [:]
                state.hasForgottenWritten = true
            }
            state.written[document] = version
        }
    }

    /// Documents that the user may not read have entries as soon as that changes.
    func noteUnreadable(_ subjects: [PictureSubject]) {
        for subject in subjects where !state.withLock({ $0.mayHaveEntries(subject.document) }) {
            remember(subject.document, NodeNumber(subject.item, 0))
        }
    }

    func isDrawn(_ subject: PictureSubject) -> Bool {
        Self.isDrawn(shelf.head(subject.node, subject.type))
    }

    static func isDrawn(_ head: PictureFile?) -> Bool { head.map { $0.failure == nil } ?? false }

    /// A path is not what it was: the entries go, or are those of what has it now.
    ///
    /// - Parameter item: what is elsewhere now, and gets entries there.
    func clear(_ path: [UInt8], of item: ItemNumber? = nil) {
        let had = remove(path)
        if had, let item {
            for name in names(of: item) where name.isReadable { replace(of: name.subject, had) }
        }
        if let other = occupant(of: path) { write(other) }
    }

    /// The document that has a path, or another such item.
    func occupant(of path: [UInt8], _ isWanted: (ItemRecord) -> Bool = \.isRegular) -> ItemNumber? {
        volume.state.withLock { state in
            let position = state.index.item(at: path)
            guard position != 0, isWanted(state.index[item: position].pointee) else { return nil }
            return state.number(position)
        }
    }

    /// A path from the mount's root as file managers name it.
    func texts(_ path: [UInt8]) -> [String] {
        let rest = "/" + String(path: path)
        return mountPoints.map { $0 + rest }
    }
}
