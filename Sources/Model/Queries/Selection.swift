/// A query that is asked of many items: which of them are looked for, and in which order.
package struct Selection: Sendable {
    /// What is known of an item besides its name.
    package struct Facts {
        package var isRegular: Bool
        package var isFolder: Bool
        /// Bytes; 0 of what is not regular.
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

    package init(_ query: Query) {
        self.query = query
        pattern = query.name.map(NamePattern.init)
    }

    /// Whether an item of this name is looked for, wherever it is.
    package func accepts(_ name: String, _ facts: Facts) -> Bool {
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
        if !query.types.isEmpty, !query.types.contains(Found.type(of: name)) { return false }
        if let pattern, !pattern.matches(name) { return false }
        return !isTemporaryName(Array(name.utf8))
    }

    /// What was found, in the query's order, and no more than it wants.
    package func ordered(_ found: [Found]) -> [Found] {
        func isBefore(_ one: Found, _ other: Found) -> Bool {
            switch query.order {
            case .path: break
            case .name: if one.name != other.name { return one.name < other.name }
            case .size: if one.size != other.size { return one.size < other.size }
            case .modified:
                if one.modified != other.modified { return one.modified < other.modified }
            case .type: if one.type != other.type { return one.type < other.type }
            case .title:
                let first = one.title?.lowercased() ?? ""
                let second = other.title?.lowercased() ?? ""
                // What has none comes last.
                if first.isEmpty != second.isEmpty { return second.isEmpty }
                if first != second { return first < second }
            }
            return one.path < other.path
        }
        let sorted = found.sorted { query.isReversed ? isBefore($1, $0) : isBefore($0, $1) }
        return query.limit.map { Array(sorted.prefix($0)) } ?? sorted
    }
}
