import DocumentKit
import Glibc
import Model
import Probing
import SystemCalls
import TestSupport
import Testing

/// Live queries of a mount under random changes, against asking anew.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct LiveQueryModelTests {
    /// Lists of paths and sizes that follow batches by their indices alone.
    private final class Follower: Sendable {
        let list = Lock<[String]?>(nil)

        static func text(_ item: FoundItem) -> String {
            "\(item.path) \(item.item) \(item.size) \(item.modified)"
        }

        func take(_ update: MetadataUpdate) {
            list.withLock { list in
                switch update {
                case .gathered(let results): list = results.map(Self.text)
                case .changed(let change, let results):
                    var now = list ?? []
                    let before = now
                    let going = change.removed + change.moved.map(\.from)
                    for index in going.sorted().reversed() { now.remove(at: index) }
                    let coming =
                        change.added.map { ($0, Self.text(results[$0])) }
                        + change.moved.map { ($0.to, before[$0.from]) }
                    for (index, text) in coming.sorted(by: { $0.0 < $1.0 }) {
                        now.insert(text, at: index)
                    }
                    for index in change.updated { now[index] = Self.text(results[index]) }
                    list = now
                case .ended: break
                }
            }
        }
    }

    private static func queries() -> [Query] {
        var queries = [Query()]
        func add(_ change: (inout Query) -> Void) {
            var query = Query()
            change(&query)
            queries.append(query)
        }
        add { ($0.order, $0.isReversed) = (.modified, true) }
        add { ($0.order, $0.limit) = (.size, 5) }
        add { ($0.name, $0.order) = ("*1*", .name) }
        add { ($0.types, $0.order) = (["txt"], .type) }
        add { ($0.kind, $0.hidden) = (.all, true) }
        add { $0.kind = .folders }
        add { $0.folder = "work/d1" }
        add { ($0.folder, $0.name, $0.types) = ("work/d1/e", "n", ["txt", "md"]) }
        add { ($0.folder, $0.hidden) = ("work/.h", true) }
        add { $0.folder = "work/.h" }
        add { ($0.smallest, $0.largest, $0.order) = (3, 6, .size) }
        add { ($0.newest, $0.order) = (50, .modified) }
        add { ($0.name, $0.types) = ("?1*", ["txt"]) }
        // Letters have another case, some of them beyond ASCII.
        add { $0.name = "N1" }
        add { $0.name = "k" }
        add { $0.name = "ä?.t*" }
        add { $0.types = ["ät"] }
        add { $0.tag = "Red" }
        return queries
    }

    /// Something that programs do, as a line of shell; what fails changes nothing.
    private static func step(_ random: inout SplitMix) -> String {
        func folder() -> String {
            ["", "d1/", "d2/", "d1/e/", ".h/"].randomElement(using: &random) ?? ""
        }
        func name() -> String {
            let letter = ["n", "n", "n", "N", "Ä", "\u{212a}"][random.below(6)]
            return folder() + letter + "\(random.below(12))"
                + [".txt", ".md", "", ".TXT", ".ÄT"][random.below(5)]
        }
        switch random.below(15) {
        case 0...3: return "printf %\(random.below(9))s x > \(name())"
        case 4...5: return "mv -T \(name()) \(name())"
        case 6: return "rm -f \(name())"
        case 7: return "ln \(name()) \(name())"
        case 8: return "mv -T d1 d3; mv -T d2 d1; mv -T d3 d2"
        case 9: return "mv -T d1/e d2/e || mv -T d2/e d1/e"
        case 10: return "mv -T .h shown || mv -T shown .h"
        case 11: return "rm -rf \(folder())n*1*; mkdir d1 d2 d1/e .h"
        case 12: return "setfattr -n user.xdg.tags -v 'blue,red' \(name())"
        case 13: return "setfattr -x user.xdg.tags \(name())"
        default: return "touch -d @\(random.below(99)) \(name())"
        }
    }

    @Test func `batches make the list that asking anew gives`() throws {
        try withVolume(.passthrough) { volume in
            let seed = UInt64.random(in: .min ... .max)
            var random = SplitMix(seed: seed)
            let agent = try volume.agent()
            for folder in ["d1", "d2", "d1/e", ".h"] { agent.makeDirectory(ByteString(folder)) }
            let point = String(volume.directory.dropLast("/work".count))
            var live: [(Query, Follower, MetadataQuery)] = []
            for query in Self.queries() {
                let follower = Follower()
                let made = MetadataQuery(query, in: point) { follower.take($0) }
                try made.start()
                live.append((query, follower, made))
            }
            defer { for (_, _, query) in live { query.stop() } }
            for round in 0..<40 {
                let lines = (0..<random.below(12) + 1).map { _ in Self.step(&random) }
                // Every other time by as many processes at once.
                let end = round % 2 == 0 ? "" : " &"
                let text =
                    lines.map { "{ \($0); } 2> /dev/null\(end)\n" }.joined() + "wait"
                _ = try volume.run("sh", "-c", text)
                for (query, follower, _) in live {
                    // What is followed goes on, empty, when its folder goes.
                    let found = try? MetadataQuery.find(query, in: point).results
                    let wanted = (found ?? []).map(Follower.text)
                    expectSoon("seed \(seed), round \(round): \(query)\n\(text)") {
                        follower.list.withLock { $0 } == wanted
                    }
                }
            }
        }
    }
}
