/// A query that is asked of many items: which of them are looked for, and in which order.
package struct Selection: Sendable {
    /// What is known of an item besides its name.
    package struct Facts: Sendable {
        package var isRegular: Bool
        package var isFolder: Bool
        /// Bytes, of a symlink those of its target; 0 of folders and special files.
        package var size: Int64
        package var modified: Timestamp
        package var isPromise: Bool

        package init(
            isRegular: Bool, isFolder: Bool, size: Int64, modified: Timestamp, isPromise: Bool
        ) {
            self.isRegular = isRegular
            self.isFolder = isFolder
            self.size = size
            self.modified = modified
            self.isPromise = isPromise
        }
    }

    private let query: Query
    private let pattern: NamePattern?
    private let types: [[UInt8]]
    private let order: ResultOrder

    package init(_ query: Query) {
        self.query = query
        pattern = query.name.map(NamePattern.init)
        types = query.types.map { Array($0.utf8) }
        order = ResultOrder(query)
    }

    /// Whether an item of this name is looked for, wherever it is.
    package func accepts(_ name: UnsafeRawBufferPointer, _ facts: Facts) -> Bool {
        switch query.kind {
        case .documents: if !facts.isRegular { return false }
        case .folders: if !facts.isFolder { return false }
        case .all: break
        }
        // What costs nothing first.
        if let smallest = query.smallest, facts.size < smallest { return false }
        if let largest = query.largest, facts.size > largest { return false }
        if let oldest = query.oldest, facts.modified.seconds < oldest { return false }
        if let newest = query.newest, facts.modified.seconds > newest { return false }
        if let wanted = query.isPromise, facts.isPromise != wanted { return false }
        if !types.isEmpty, !isOfType(name) { return false }
        if let pattern, !pattern.matches(name) { return false }
        return !isTemporaryName(name)
    }

    private func isOfType(_ name: UnsafeRawBufferPointer) -> Bool {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return false }
        let end = UnsafeRawBufferPointer(rebasing: name[(dot + 1)...])
        let folded = FoldedBytes(bytes: end)
        if types.contains(where: { $0.count == end.count && folded.elementsEqual($0) }) {
            return true
        }
        // Letters beyond ASCII have an upper case too.
        guard end.contains(where: { $0 >= 0x80 }) else { return false }
        let text = String(decoding: end, as: UTF8.self).lowercased()
        return query.types.contains(text)
    }

    /// What was found, in the query's order, and no more than it wants.
    package func ordered(_ found: [Found]) -> [Found] {
        let sorted = order.sorted(found)
        return query.limit.map { Array(sorted.prefix($0)) } ?? sorted
    }
}
