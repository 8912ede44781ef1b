internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import Pictures
internal import Stores
internal import SystemCalls
internal import Thumbnailing

/// Looking at documents.
extension TextIndexer {
    /// Documents that are written down at a time.
    private static let portion = 64
    /// How often the reading of a version may be told to end, or take too long: then that is a failure of the
    /// document, whose reading may take so much of the machine that somebody ends it.
    private static let endingLimit = 3

    /// Has items, or all, read and their words written down, and notes that all is there up to a
    /// change. A document whose reading was told to end keeps those after it from nothing; if it
    /// happens again in one round, the reason is another.
    func look(at items: Set<ItemNumber>, scan: Bool, _ head: ChangeSequence) throws(Failure) {
        var items = items
        if scan { items.formUnion(try all()) }
        var rest = Array(items)
        var problem: String?
        while !rest.isEmpty {
            let part = rest.suffix(Self.portion)
            var rows: [TextRow] = []
            var gone: [ItemNumber] = []
            var wordless: [DocumentID] = []
            for item in part {
                switch try looked(at: item) {
                case .nothing: break
                case .gone(let document):
                    gone.append(item)
                    if let document { wordless.append(document) }
                case .row(let row): rows.append(row)
                case .ended(let how):
                    if problem != nil { throw Failure(.unavailable, how) }
                    problem = how
                }
            }
            rest.removeLast(part.count)
            if rows.isEmpty, gone.isEmpty { continue }
            _ = try read { (database) throws(Failure) in
                try database.apply(rows, without: gone, documents: wordless, mark: nil)
            }
            for row in rows { leaving.drop(row.node) }
        }
        if let problem { throw Failure(.unavailable, problem) }
        // What it says to be complete up to is there after a crash.
        do throws(Errno) { try volume.log.flush(upTo: head) } catch {
            throw Failure(.inputOutput, "the journal: \(error)")
        }
        _ = try read { (database) throws(Failure) in
            try database.apply([], without: [], mark: head)
        }
    }

    /// All items that have words, or had.
    private func all() throws(Failure) -> Set<ItemNumber> {
        var query = Query()
        query.hidden = true
        query.types = TextType.all
        var gathering = Gathering(query)
        if volume.state.withLock({ gathering.begin($0.index) }) {
            while volume.state.withLock({ gathering.step($0.index) }) {}
        }
        let known = try read { (database) throws(Failure) in try database.items() } ?? []
        return Set(gathering.found.map(\.item)).union(known)
    }

    private enum Looked {
        /// It is as it was.
        case nothing
        /// It has no words any more, nor has the document that it is, which may have had those of another
        /// item before.
        case gone(DocumentID?)
        case row(TextRow)
        /// Its reading was told to end, or took too long: how.
        case ended(String)
    }

    private func looked(at item: ItemNumber) throws(Failure) -> Looked {
        let (found, document) = volume.state.withLock {
            ($0.textSubject(item), $0.namedDocument(item))
        }
        guard let subject = found else { return .gone(document) }
        let known = try known(subject)
        if let known, known.node == subject.node, known.type == subject.type.rawValue {
            leaving.drop(subject.node)
            return .nothing
        }
        // A promise keeps what was taken from this version, also as another document; of another version
        // nothing is known.
        if subject.isPromise, !leaving.holds(subject.node) {
            if known?.node == subject.node { return .nothing }
            let row = try read { (database) throws(Failure) in try database.row(of: subject.node) }
            guard var row = row ?? nil else {
                return known == nil ? .nothing : .gone(subject.document)
            }
            row.document = subject.document
            return .row(row)
        }
        var row = TextRow(
            document: subject.document, node: subject.node, type: subject.type.rawValue,
            title: "", body: "")
        do throws(ThumbnailFailure) {
            guard let text = try text(of: subject) else { return .nothing }
            (row.title, row.body) = (text.title, text.body)
        } catch {
            switch error {
            // Not asked again before there is another version.
            case .refused, .died: break
            // On a machine that has much to do it may be none of its fault.
            case .ended, .timedOut:
                if !isLastEnding(of: subject.node) { return .ended(error.description) }
            case .cancelled, .unavailable: throw Failure(.unavailable, error.description)
            }
        }
        return .row(row)
    }

    /// The version whose words are known of a document, and what it was read as.
    private func known(
        _ subject: TextSubject
    ) throws(Failure) -> (node: NodeNumber, type: UInt8)? {
        try read { (database) throws(Failure) in try database.known(subject.document) } ?? nil
    }

    private func isLastEnding(of node: NodeNumber) -> Bool {
        endings.withLock { endings in
            let count = (endings[node] ?? 0) + 1
            endings.insert(count, for: node, weight: 1)
            return count >= Self.endingLimit
        }
    }

    /// The words of a version; nil if it is gone.
    private func text(of subject: TextSubject) throws(ThumbnailFailure) -> WorkerText? {
        switch input(of: subject) {
        case nil: return nil
        case .bytes(let bytes):
            return try worker.text(
                TextRequest(type: subject.type, bytes: bytes), cancellation: cancellation)
        case .file(let file):
            return try worker.text(
                TextRequest(type: subject.type), descriptor: file.number,
                cancellation: cancellation)
        }
    }

    private func input(of subject: TextSubject) -> WorkerInput? {
        if let path = leaving.take(subject.node), let input = try? Self.input(path) {
            return input
        }
        // It is not thinned out while it is read.
        volume.state.withLock { $0.drawn.add(subject.node) }
        defer { volume.state.withLock { $0.drawn.remove(subject.node) } }
        return try? volume.followingMoves { () throws(Errno) -> WorkerInput? in
            guard let content = volume.state.withLock({ $0.published(subject.node) }) else {
                return nil
            }
            return try WorkerInput(content, in: volume.content)
        }
    }

    private static func input(_ path: String) throws(Errno) -> WorkerInput {
        let file = try OwnedDescriptor.open(path, O_RDONLY)
        let size = try file.status().st_size
        return try WorkerInput(file, size: Int64(size))
    }
}

/// Documents whose contents are let go before anybody has read their words.
extension TextIndexer {
    /// Those of these versions whose words are to be read and are not known. Waits for the disk.
    func unread(_ nodes: [NodeNumber]) -> Set<NodeNumber> {
        Set(
            nodes.filter { node in
                guard awaits(node.item) else { return false }
                let found = volume.state.withLock { $0.textSubject(node.item) }
                guard let subject = found, subject.node == node else { return false }
                return (try? known(subject))??.node != node
            })
    }

    /// Keeps a content that is about to go until its words were read. Waits for the disk.
    ///
    /// - Parameter isNeeded: whether its file stays for others, as long as they do.
    func keepLeaving(_ node: NodeNumber, _ blob: Blob, isNeeded: Bool) {
        let path = volume.content.folder.blob(blob.hash)
        // It may have been passed over as a promise a moment ago.
        if leaving.keep(node, path, bytes: isNeeded ? 0 : blob.size) { note(node.item) }
    }
}
