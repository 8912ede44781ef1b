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
        var gathering = Gathering(query)
        let (start, exists) = state.withLock { (log.head, gathering.begin($0.index)) }
        guard exists else { throw Errno(ENOENT) }
        while state.withLock({ gathering.step($0.index) }) {}
        let results = gathering.results()
        // What was told is there after a crash.
        try log.flush(upTo: log.head)
        var text = "{\"sequence\": \(start), \"count\": \(results.count)}\n"
        for found in results { text += Self.line(found) }
        return Array(text.utf8)
    }

    private static func line(_ found: Found) -> String {
        "{\"path\": \(quoted(found.path)), \"item\": \(found.item.rawValue), "
            + "\"document\": \(quoted(found.document.description)), "
            + "\"folder\": \(found.isFolder), \"size\": \(found.size), "
            + "\"modified\": \(quoted(found.modified.exactText)), "
            + "\"promise\": \(found.isPromise)}\n"
    }
}
