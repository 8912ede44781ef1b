import Model
import Probing
import Testing

/// The results of live queries, as values, against looking anew.
@Suite struct LiveResultTests {
    /// Items with some names, made at random from few so that they often change places.
    private static func results(_ item: Int, _ random: inout SplitMix) -> [Found] {
        let names = (0..<8).shuffled(using: &random).prefix([0, 1, 1, 1, 2, 3][random.below(6)])
        return names.map { name in
            let (folder, type) = (random.below(2), random.below(2))
            return Found(
                item: ItemNumber(rawValue: UInt64(item)), document: DocumentID(rawValue: 1),
                path: "d\(folder)/n\(name).\(type)\(item)",
                isFolder: false, size: Int64(random.below(3)),
                modified: Timestamp(seconds: Int64(random.below(2)), nanoseconds: 0),
                isPromise: false, title: random.below(2) == 0 ? nil : "T\(random.below(3))")
        }
    }

    @Test(arguments: 0..<200)
    func `batches make the list that looking anew gives`(round: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(seed: seed)
        var query = Query()
        query.order = Query.Order.allCases.randomElement(using: &random) ?? .path
        query.isReversed = random.below(2) == 0
        query.limit = random.below(3) == 0 ? random.below(12) + 1 : nil
        // Some rounds change so much at once that lists are made anew.
        let count = round % 10 == 0 ? 300 : 14
        var truth: [Int: [Found]] = [:]
        for item in 0..<count { truth[item] = Self.results(item, &random) }
        func anew() -> [Found] { Selection(query).ordered(truth.values.flatMap { $0 }) }
        var live = LiveResults(query, truth.values.flatMap { $0 })
        var shown = Array(live.shown)
        #expect(shown == anew(), "seed \(seed)")
        for _ in 0..<20 {
            var changes: [(item: ItemNumber, results: [Found])] = []
            for item in 0..<count where random.below(4) == 0 {
                // Also items that were looked at and did not change.
                if random.below(4) > 0 { truth[item] = Self.results(item, &random) }
                changes.append((ItemNumber(rawValue: UInt64(item)), truth[item] ?? []))
            }
            let difference = live.update(changes)
            let now = Array(live.shown)
            #expect(now == anew(), "seed \(seed)")
            #expect(difference.fits(shown.count), "seed \(seed): \(difference)")
            difference.apply(
                to: &shown, added: difference.added.map { now[$0] },
                updated: difference.updated.map { now[$0] })
            #expect(shown == now, "seed \(seed): \(difference)")
            for (item, results) in truth where !results.isEmpty {
                #expect(live.mayHave(ItemNumber(rawValue: UInt64(item))), "seed \(seed)")
            }
            #expect(live.update(changes).isEmpty, "seed \(seed)")
        }
    }

    @Test func `one that changes its place moves nothing else`() {
        func found(_ item: UInt64, _ size: Int64) -> Found {
            Found(
                item: ItemNumber(rawValue: item), document: DocumentID(rawValue: item),
                path: "f\(item)", isFolder: false, size: size,
                modified: Timestamp(seconds: 0, nanoseconds: 0), isPromise: false)
        }
        var query = Query()
        query.order = .size
        var live = LiveResults(query, (1...5).map { found($0, Int64($0)) })
        let difference = live.update([(ItemNumber(rawValue: 5), [found(5, 0)])])
        #expect(difference.moved.map(\.from) == [4] && difference.moved.map(\.to) == [0])
        #expect(difference.updated == [0])
        #expect(difference.added.isEmpty && difference.removed.isEmpty)
        // Another size at the same place.
        let next = live.update([(ItemNumber(rawValue: 5), [found(5, -1)])])
        #expect(next.updated == [0] && next.moved.isEmpty)
    }
}
