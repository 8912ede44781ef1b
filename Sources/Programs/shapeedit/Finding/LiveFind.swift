import DocumentKit
import Model
import SystemCalls

/// Prints the results of a query, and how they change.
struct LiveFind {
    private let query: Query
    private let mountPoint: String
    private let json: Bool

    /// The folder of the query is below the mount.
    init(_ query: Query, in mountPoint: String, json: Bool) {
        self.query = query
        self.mountPoint = mountPoint
        self.json = json
    }

    /// Prints until the mount goes away, which is the failure, or nobody reads it any more.
    func run() throws(Failure) -> Never {
        Console.endWithReader()
        let reason = Monitor<String?>(nil)
        let shown = Lock([FoundItem]())
        let json = json
        let live = MetadataQuery(query, in: mountPoint) { update in
            let (change, now): (ListDifference, [FoundItem])
            switch update {
            case .gathered(let results):
                (change, now) = (ListDifference(added: Array(results.indices)), results)
            case .changed(let difference, let results): (change, now) = (difference, results)
            case .ended(let words): return reason.signal { $0 = words }
            }
            let before = shown.withLock { shown in
                defer { shown = now }
                return shown
            }
            if !change.isEmpty { Self.say(change, from: before, to: now, json: json) }
        }
        try live.begin()
        let words: String? = reason.wait { $0 }
        throw Failure(.unavailable, words ?? mountPoint)
    }

    private static func say(
        _ difference: ListDifference, from old: [FoundItem], to new: [FoundItem], json: Bool
    ) {
        if json { return Console.say(object(difference, new)) }
        for index in difference.removed { Console.say(line: "- \(old[index].path)") }
        for index in difference.added { Console.say(line: "+ \(new[index].path)") }
        let changed = Set(difference.updated).union(difference.moved.map(\.to))
        for index in changed.sorted() { Console.say(line: "~ \(new[index].path)") }
    }

    private static func object(_ difference: ListDifference, _ new: [FoundItem]) -> String {
        func placed(_ index: Int) -> String {
            JSONText.object([("index", String(index)), ("result", new[index].json)])
        }
        return JSONText.object([
            ("removed", JSONText.array(difference.removed.map(String.init))),
            ("added", JSONText.array(difference.added.map(placed))),
            (
                "moved",
                JSONText.array(
                    difference.moved.map {
                        JSONText.object([("from", String($0.from)), ("to", String($0.to))])
                    })
            ),
            ("updated", JSONText.array(difference.updated.map(placed))),
        ])
    }
}
