import Glibc
import Probing
import TestSupport
import Testing

/// A source that changes at random, and is refreshed.
@Suite(.oneAtATime)
struct RefreshModelTests {
    /// $SHAPEEDIT_TEST_ROUNDS, or 25.
    private static var rounds: Int {
        getenv("SHAPEEDIT_TEST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 25
    }

    /// The names of a folder: few, that they meet.
    private static let names = ["a", "b", "c", "d"]

    /// What a source may do between two refreshes; `size` is a file's that nothing had before.
    private static func change(_ random: inout SplitMix, size: Int) -> String {
        func path(_ random: inout SplitMix) -> String {
            let name = names[random.below(names.count)]
            return random.chance(40) ? "\(names[random.below(names.count)])/\(name)" : name
        }
        let first = path(&random)
        let second = path(&random)
        switch random.below(7) {
        case 0, 1: return "[ -d \(first) ] || head -c \(size) /dev/zero > \(first)"
        case 2: return "mkdir \(first)"
        case 3: return "rm -r \(first)"
        case 4: return "mv -T \(first) \(second)"
        case 5: return "mv \(first) .t && mv \(second) \(first); mv .t \(second)"
        default: return "rm -r \(first); mkdir \(first); head -c \(size) /dev/zero > \(first)/a"
        }
    }

    @Test(arguments: ChangingSource.Kind.allCases)
    func `a refresh shows what the source shows, whatever was done to it`(
        _ kind: ChangingSource.Kind
    ) throws {
        let seed = Seed.next("refreshes of \(kind)")
        var random = SplitMix(seed: seed)
        try withVolume(.passthrough) { volume in
            let home = "\(try #require(volume.container).base)/home"
            let source = try ChangingSource(kind, name: "refreshed-\(seed)", base: home)
            let agent = try volume.agent()
            // An emptied source is refused: it may be a disk that is not there.
            try source.change("head -c 1 /dev/zero > kept")
            try volume.shapeedit("import", "--promise", source.address, "@in")
            var log: [String] = []
            for round in 1...Self.rounds {
                let reads = Self.names.filter { _ in random.chance(25) }.map { "in/\($0)" }
                let changes = (0...random.below(6)).map {
                    Self.change(&random, size: 10 * round + $0)
                }
                log.append("read \(reads); \(changes.joined(separator: "; "))")
                agent.shell("cat \(reads.joined(separator: " ")) < /dev/null > read 2>&1 || :")
                try source.change(changes.joined(separator: "\n") + "\nrm -rf .t")
                let told = try volume.shapeedit("import", "--refresh", "@in").text
                // What had been read is here still: only what the source shows is compared.
                // A moved folder may be stale once while its move is told (Presentation), and for nothing else.
                let missing = agent.shell(
                    """
                    (cd \(source.folder); \(source.listing)) > expected
                    for look in 1 2 3; do
                        (cd in; \(source.listing)) > found 2> unlisted
                        grep -q 'Stale file handle' unlisted || break
                    done
                    comm -23 expected found
                    find in | grep shapeedit-aside || :
                    cat unlisted
                    """)
                let again = try volume.shapeedit("import", "--refresh", "@in").text
                let isQuiet =
                    again.contains(" 0 new, 0 changed, 0 removed") && !again.contains("taken")
                guard missing.isEmpty, !told.contains("taken"), isQuiet else {
                    let last = log.suffix(6).joined(separator: "\n")
                    let here = agent.shell(
                        """
                        find in -printf '%p %y %s %i ' -exec getfattr --only-values \\
                            -n user.shapeedit.source {} \\; -printf '\\n' 2>&1
                        find \(source.folder) -printf '%P %y %s %i\\n'

                        """)
                    Issue.record(
                        "round \(round), seed \(seed): \(missing)\n\(told)\(again)\(here)last:\n\(last)"
                    )
                    return
                }
            }
            agent.shell(
                """
                (cd \(source.folder); find . -type f) > files
                while read -r f; do cmp \(source.folder)/$f in/$f || exit; done < files
                """)
        }
    }
}
