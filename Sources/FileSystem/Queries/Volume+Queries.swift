internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What looking for a query's results gave.
struct Gathered {
    /// In no order.
    var found: [Found] = []
    /// Those of them that are documents of other containers.
    var granted: [Found] = []
    /// The change before the looking began.
    var start: ChangeSequence = 0
    var knowledge = Knowledge()
    /// Why some may be missing.
    var problem: String?
}

/// Queries: the file `.shapeedit/find/<query>` has the results, a JSON object a line.
extension Volume {
    /// The results as of now; ENOENT if there is no folder of that path.
    ///
    /// The first line says after which change the looking began: who follows the events from there
    /// misses nothing.
    func findings(_ query: Query) throws(Errno) -> [UInt8] {
        let gathered = try gather(query)
        let (results, start) = (Selection(query).ordered(gathered.found), gathered.start)
        // What was told is there after a crash.
        try log.flush(upTo: log.head)
        var text = "{\"sequence\": \(start), \"count\": \(results.count)"
        if let problem = gathered.problem { text += ", \"problem\": \(PathText.quoted(problem))" }
        var bytes = Array((text + "}\n").utf8)
        bytes.reserveCapacity(bytes.count + results.count * Self.usualLine)
        for found in results {
            FoundLine.append(found, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Bytes of most results as text.
    private static let usualLine = 192

    /// All that is found, in no order; ENOENT if there is no folder of that path. What other
    /// containers grant is as they said when they were asked last (``whenAsked(_:_:)``).
    func gather(_ query: Query) throws(Errno) -> Gathered {
        let (knowledge, problem) = try knowledge(query)
        var gathering = Gathering(query, knowledge)
        let (start, exists) = state.withLock { (log.head, gathering.begin($0.index)) }
        let granted = grantedResults?.found(query)
        guard exists || granted?.isOwners == true else { throw Errno(ENOENT) }
        while state.withLock({ gathering.step($0.index, arrived: $0.arrived) }) {}
        let others = granted?.found ?? []
        return Gathered(
            found: gathering.found + others, granted: others, start: start, knowledge: knowledge,
            problem: problem ?? granted?.problem)
    }

    /// What a document is called apart from its name, as far as it has been read; ENODATA if it has no
    /// title. May wait for the disk.
    func title(_ node: NodeNumber) throws(Errno) -> String {
        let document = try read { (state) throws(Errno) in
            DocumentID(rawValue: state.index[item: try state.position(node)].pointee.document)
        }
        let title: String?
        do throws(Failure) {
            title =
                try texts?.read { (database) throws(Failure) in
                    try database.title(of: document)
                } ?? nil
        } catch {
            throw Errno(EIO)
        }
        guard let title else { throw Errno(ENODATA) }
        return title
    }

    /// What the query needs of what is not in memory, and why some of that may be missing.
    func knowledge(_ query: Query) throws(Errno) -> (Knowledge, problem: String?) {
        var knowledge = Knowledge()
        var problem: String?
        do throws(Failure) {
            if let tag = query.tag {
                knowledge.items = state.withLock { $0.items(tagged: tag) }
            }
            if query.tellsTitles {
                // Where titles are only told, nothing is missing without them.
                guard let texts else {
                    return (knowledge, query.needsTexts ? "no words of documents are kept" : nil)
                }
                if query.needsTexts {
                    problem = texts.problem
                    if texts.isBehind { problem = problem ?? "documents are still being read" }
                }
                let pattern = TextPattern(text: query.text, title: query.title)
                knowledge.titles =
                    try texts.read { (database) throws(Failure) in
                        if let pattern { return try database.matches(pattern) }
                        return try database.titles()
                    } ?? [:]
                // Without any word there is nothing that a document would have to have.
                if pattern != nil {
                    knowledge.documents = Set(knowledge.titles.keys)
                }
            }
        } catch {
            guard error.kind == .badData else {
                if query.needsTexts { throw Errno(EIO) }
                return (knowledge, nil)
            }
            // They are taken from the documents again by now.
            knowledge.titles = [:]
            if TextPattern(text: query.text, title: query.title) != nil { knowledge.documents = [] }
            if query.needsTexts { problem = error.message }
        }
        return (knowledge, problem)
    }
}

extension VolumeState {
    /// The items that have a tag, in any case of letters.
    fileprivate func items(tagged tag: String) -> Set<ItemNumber> {
        let wanted = tag.lowercased()
        var items: Set<ItemNumber> = []
        for (position, attributes) in index.attributes {
            if let value = attributes[ItemTags.attribute], ItemTags.contains(value, wanted) {
                items.insert(number(position))
            }
        }
        return items
    }
}
