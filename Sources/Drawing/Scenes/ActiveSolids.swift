/// The solids that rays through a row of pixels may meet, nearest first: where there are many, apart for
/// each column, so that a ray need not ask all of them.
struct ActiveSolids {
    /// So few are asked sooner than told apart.
    private static let few = 16
    /// More solids in columns are not told apart: then a ray meets most of those that it asks.
    private static let most = 1 << 19

    private let all: [Int]
    private let columns: Range<Int>
    /// Where those of each column begin in `sorted`, and where the last ones end; empty if they are not
    /// told apart.
    private var starts: [Int] = []
    private var sorted: [Int] = []

    /// - Parameters:
    ///   - all: their indices.
    ///   - columns: those that are asked for.
    ///   - reach: the columns in which a solid may be met.
    init(_ all: [Int], in columns: Range<Int>, _ reach: (Int) -> Range<Int>) {
        self.all = all
        self.columns = columns
        guard all.count > Self.few else { return }
        let reaches = all.map { reach($0).clamped(to: columns) }
        let count = reaches.reduce(0) { $0 + $1.count }
        guard count <= Self.most else { return }
        var ends = [Int](repeating: 0, count: columns.count + 1)
        for column in reaches.joined() { ends[column - columns.lowerBound + 1] += 1 }
        for place in 0..<columns.count { ends[place + 1] += ends[place] }
        starts = ends
        sorted = [Int](repeating: 0, count: count)
        for (index, reach) in zip(all, reaches) {
            for column in reach {
                sorted[ends[column - columns.lowerBound]] = index
                ends[column - columns.lowerBound] += 1
            }
        }
    }

    /// Those of a column.
    @inline(__always)
    subscript(column: Int) -> ArraySlice<Int> {
        if starts.isEmpty { return all[...] }
        let place = column - columns.lowerBound
        return sorted[starts[place]..<starts[place + 1]]
    }
}
