import Model
import Probing
import Testing

/// Queries and how their results change, as values.
@Suite struct QueryTests {
    @Test func `a query is what its text says`() {
        var query = Query()
        #expect(Query(query.description) == query)
        query.name = "ä b&c=d/%*?"
        query.types = ["shape", "txt"]
        query.folder = "a/b c"
        query.kind = .all
        (query.smallest, query.largest, query.oldest, query.newest) = (0, 9, -5, 7)
        query.isPromise = false
        (query.hidden, query.titled) = (true, true)
        (query.order, query.isReversed, query.limit) = (.modified, true, 3)
        #expect(Query(query.description) == query)
        #expect(!query.description.contains("/"))
        for wrong in [
            "x", "name", "nothing=1", "sort=x", "limit=0", "smallest=x", "name=%4", "name=%+f",
        ] {
            #expect(Query(wrong) == nil, "\(wrong)")
        }
    }

    @Test(arguments: [
        ("", "anything", true), ("all", "Ball.shape", true), ("BALL", "ball", true),
        ("balls", "ball", false), ("*.shape", "Ball.SHAPE", true), ("*.shape", "shape", false),
        ("b?ll", "ball", true), ("b?ll", "bll", false), ("*", "", true), ("?", "ä", true),
        ("*a*b*", "xxaxxbxx", true), ("*a*b*", "xxbxxa", false), ("a*a", "a", false),
        // The kelvin sign, which is a capital k.
        ("k?", "\u{212a}2", true), ("ä*", "ÄA", true), ("AZ[@", "az[@", true),
        ("ΣΟΦΌΣ", "σοφός", true), ("οδος", "ΟΔΟΣ", true),
    ])
    func `patterns of names`(_ pattern: String, _ name: String, _ matches: Bool) {
        #expect(NamePattern(pattern).matches(name) == matches)
        if matches {
            let missing = NamePattern(pattern).letters & ~NamePattern.letters(of: name.utf8)
            #expect(missing == 0)
        }
    }

    @Test func `a pattern of many stars is not slow`() {
        let name = String(repeating: "a", count: 255)
        #expect(!NamePattern(String(repeating: "*a", count: 60) + "*b").matches(name))
    }

    private struct Element: Equatable {
        var key: Int
        var value: Int
    }

    @Test(arguments: 0..<300)
    func `differences turn the one list into the other, and move as few as can be`(round: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(seed: seed)
        // Several elements may have one key: the first is the first of the other list, and so on.
        let isUnique = round % 2 == 0
        func list() -> [Element] {
            let keys = (0..<12).filter { _ in random.below(10) < 7 }.shuffled(using: &random)
            return keys.map { Element(key: isUnique ? $0 : $0 % 5, value: random.below(2)) }
        }
        let (old, new) = (list(), list())
        let difference = ListDifference(from: old, to: new, by: \.key)
        var made: [Element] = old
        for index in (difference.removed + difference.moved.map(\.from)).sorted().reversed() {
            made.remove(at: index)
        }
        let coming =
            difference.added.map { ($0, new[$0]) }
            + difference.moved.map { move in (move.to, old[move.from]) }
        for (index, element) in coming.sorted(by: { $0.0 < $1.0 }) {
            made.insert(element, at: index)
        }
        for index in difference.updated { made[index] = new[index] }
        #expect(made == new, "seed \(seed)")
        // Nothing is told that did not happen.
        #expect(ListDifference(from: new, to: new, by: \.key).isEmpty)
        for index in difference.updated {
            #expect(!isUnique || !old.contains(new[index]), "seed \(seed)")
        }
        if !isUnique {
            let count = { (list: [Element], key: Int) in list.filter { $0.key == key }.count }
            let gone = (0..<5).map { max(0, count(old, $0) - count(new, $0)) }.reduce(0, +)
            #expect(difference.removed.count == gone, "seed \(seed)")
        }
    }

    @Test func `one that comes first moves nothing else`() {
        let old = (1...5).map { Element(key: $0, value: 0) }
        let new = [old[4], old[0], old[1], old[2], old[3]]
        let difference = ListDifference(from: old, to: new, by: \.key)
        #expect(difference.moved.map(\.from) == [4] && difference.moved.map(\.to) == [0])
        #expect(difference.added.isEmpty && difference.removed.isEmpty)
    }
}
