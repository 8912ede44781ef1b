internal import Model

extension Mutation {
    /// What it adds to the tables and their indexes, in bytes; more than most do.
    var growth: Int64 {
        effects.reduce(512 + Int64(name?.count ?? 0)) { $0 + $1.growth }
    }
}

extension Collection<Mutation> {
    /// What all of them add.
    var growth: Int64 { reduce(0) { $0 + $1.growth } }
}

extension Effect {
    /// What makes it longer than most.
    fileprivate var growth: Int64 {
        switch self {
        case .putName(_, let name, _, _): Int64(name.count)
        case .putItem(let row): Self.rounded(row.target?.count ?? 0)
        case .putAttribute(_, let name, let value): Self.rounded(name.count + value.count)
        default: 0
        }
    }

    /// What does not fit beside others in a page has pages of its own.
    private static func rounded(_ count: Int) -> Int64 {
        count < 900 ? Int64(count) : (Int64(count) / 4_092 + 2) * 4_096
    }
}
