internal import Catalog
internal import Model
internal import Pictures
internal import SystemCalls
internal import Thumbnailing

// What stands for pictures of promises that there are not.
extension DesktopEntries {
    /// Writes what stands for the pictures that there are not of a promise, if a file manager would open it to
    /// draw them: so it would bring the content. What others have drawn of this state of it stays.
    ///
    /// - Parameter pictures: those that there are; the smallest stands for larger ones.
    /// - Returns: whether this is for it to do.
    @discardableResult
    func standIn(for name: Named, beside pictures: [DesktopCache.Size: [UInt8]] = [:]) -> Bool {
        let subject = name.subject
        guard subject.isPromise, subject.size > 0, name.isReadable,
            !isTemporaryName(subject.fileName), isThumbnailed(subject)
        else { return false }
        var isStanding = false
        for path in texts(name.path) {
            let facts = standInFacts(path, subject)
            for size in DesktopCache.Size.allCases where pictures[size] == nil {
                if cache.isCurrentOfOthers(size, of: facts) { continue }
                isStanding = true
                if cache.isCurrent(size, of: facts) { continue }
                let bytes = pictures[.normal] ?? placeholder(subject, size)
                put([size: bytes], facts, in: [size])
            }
        }
        // When the content comes it is drawn.
        if isStanding { remember(subject.document, NodeNumber(subject.item, 0)) }
        return true
    }

    /// The same of a document that may be here by now: what stood for it then may still be there, if this
    /// was not told of it.
    func standInOrMakeWay(_ name: Named) {
        if standIn(for: name) || name.subject.isPromise { return }
        let isStoodFor = texts(name.path).contains { path in
            cache.isCurrent(.normal, of: standInFacts(path, name.subject))
        }
        if isStoodFor { write(name) }
    }

    private func standInFacts(_ path: String, _ subject: PictureSubject) -> DesktopCache.Subject {
        var facts = facts(path, subject)
        facts.version = facts.version.map { $0 + "/stand-in" }
        return facts
    }

    private func placeholder(_ subject: PictureSubject, _ size: DesktopCache.Size) -> [UInt8] {
        PictureSize(rawValue: size.pixels).map { Placeholder.bytes(subject.type, $0) } ?? []
    }

    private func isThumbnailed(_ subject: PictureSubject) -> Bool {
        thumbnailed.withLock { known -> ThumbnailedTypes in
            if let known { return known }
            let types = ThumbnailedTypes()
            known = types
            return types
        }.contains(fileName: String(decoding: subject.fileName, as: UTF8.self))
    }

    /// The content of a promise has come. Under the volume's lock.
    func arrived(_ item: ItemNumber, of document: DocumentID) {
        if state.withLock({ $0.mayBeStoodFor(document) }) { changed(item) }
    }

    /// There is another promise in a directory. Under the volume's lock.
    ///
    /// - Parameter isNew: whether there was no document: who watches the directory is told of it, and does not
    ///   look it up.
    func promised(
        _ item: ItemNumber, named name: [UInt8], in directory: ItemNumber, isNew: Bool
    ) {
        let wasListed = state.signal { state in
            let wasListed = state.listed[directory] != nil
            state.lookedUp[item] = nil
            state.doubtLinks(by: name)
            if !isNew, wasListed { state.listed[directory] = DesktopNotes.listedBefore }
            return wasListed
        }
        if isNew, wasListed { changed(item) }
    }
}
