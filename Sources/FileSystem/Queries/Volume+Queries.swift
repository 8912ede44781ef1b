internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// Queries: the file `.shapeedit/find/<query>` has the results, a JSON object a line.
extension Volume {
    /// The results as of now; ENOENT if there is no folder of that path.
    ///
    /// The first line says after which change the looking began: who follows the events from there
    /// misses nothing.
    func findings(_ query: Query) throws(Errno) -> [UInt8] {
        let (results, start, problem) = try gather(query)
        // What was told is there after a crash.
        try log.flush(upTo: log.head)
        var text = "{\"sequence\": \(start), \"count\": \(results.count)"
        if let problem { text += ", \"problem\": \(quoted(problem))" }
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

    /// The results, the change before the looking began, and why some may be missing.
    func gather(_ query: Query) throws(Errno) -> ([Found], ChangeSequence, problem: String?) {
        let (knowledge, problem) = try knowledge(query)
        var gathering = Gathering(query, knowledge)
        let (start, exists) = state.withLock { (log.head, gathering.begin($0.index)) }
        guard exists else { throw Errno(ENOENT) }
        while state.withLock({ gathering.step($0.index) }) {}
        return (gathering.results(), start, problem)
    }

    /// What the query needs of what is not in memory, and why some of that may be missing.
    private func knowledge(_ query: Query) throws(Errno) -> (Knowledge, problem: String?) {
        var knowledge = Knowledge()
        var problem: String?
        do throws(Failure) {
            if let tag = query.tag {
                knowledge.items = state.withLock { $0.items(tagged: tag) }
            }
            if query.needsTexts {
                guard let texts else { return (knowledge, "no words of documents are kept") }
                problem = texts.problem
                let pattern = TextPattern(text: query.text, title: query.title)
                knowledge.titles =
                    try texts.read { (database) throws(Failure) in
                        if let pattern { return try database.matches(pattern) }
                        return try database.titles()
                    } ?? [:]
                if query.text != nil || query.title != nil {
                    knowledge.documents = Set(knowledge.titles.keys)
                }
            }
        } catch {
            throw Errno(EIO)
        }
        return (knowledge, problem)
    }
}

extension VolumeState {
    /// Where programs keep the tags that people give to files: words with commas between.
    private static let tagAttribute = Array("user.xdg.tags".utf8)

    /// The items that have a tag, in any case of letters.
    fileprivate func items(tagged tag: String) -> Set<ItemNumber> {
        let wanted = tag.lowercased()
        var items: Set<ItemNumber> = []
        for (position, attributes) in index.attributes {
            guard let value = attributes[Self.tagAttribute] else { continue }
            let isTagged = String(decoding: value, as: UTF8.self).split(separator: ",").contains {
                $0.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
                    == wanted
            }
            if isTagged { items.insert(number(position)) }
        }
        return items
    }
}
