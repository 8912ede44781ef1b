import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// What a presenter of a folder outside of containers is told, carried out step by step, is what there is.
@Suite(.oneAtATime) struct ToldStepsTests {
    /// The paths below a folder, by what is told alone.
    private final class Mirror: FilePresenter {
        let paths: Lock<Set<String>>
        /// What was told of a path that is none.
        let strange = Lock([String]())
        private let top: String

        init(of top: String) {
            self.top = top
            paths = Lock(Self.paths(below: top))
        }

        func subitemChanged(_ change: SubitemChange) {
            paths.withLock { paths in
                func name(_ path: String) -> String { String(path.dropFirst(top.count + 1)) }
                func take(_ path: String) -> [String] {
                    let taken = paths.filter { $0 == path || $0.hasPrefix(path + "/") }
                    if !taken.contains(path) { strange.withLock { $0.append("\(change)") } }
                    paths.subtract(taken)
                    return taken.map { String($0.dropFirst(path.count)) }
                }
                switch change {
                case .appeared(let path): paths.insert(name(path))
                case .deleted(let path): _ = take(name(path))
                case .moved(let path, let target):
                    for rest in take(name(path)) { paths.insert(name(target) + rest) }
                case .changed(let path):
                    if !paths.contains(name(path)) { strange.withLock { $0.append("\(change)") } }
                }
            }
        }

        static func paths(below top: String) -> Set<String> {
            var found: Set<String> = []
            for name in (try? Directories.names(in: top)) ?? [] {
                found.insert(name)
                for rest in paths(below: "\(top)/\(name)") { found.insert("\(name)/\(rest)") }
            }
            return found
        }
    }

    /// `mv`, `mkdir`, `touch`, `rm` of paths below `top`; what cannot be done is left.
    private func act(_ words: String, in top: String) {
        let words = words.split(separator: " ").map(String.init)
        let path = "\(top)/\(words[1])"
        switch words[0] {
        case "mv": rename(path, "\(top)/\(words[2])")
        case "mkdir": mkdir(path, 0o700)
        case "rm": remove(path)
        default: close(open(path, O_CREAT | O_WRONLY, 0o600))
        }
    }

    @Test func `steps that are told together lead to what there is`() throws {
        try withVolume(.plain) { volume in
            let top = volume.directory
            for words in [
                "mkdir d", "touch d/x", "mkdir d/e", "touch d/e/y", "mkdir p", "mkdir p/c",
                "touch p/c/z", "mkdir a", "touch a/1", "mkdir b", "touch b/2", "touch f",
            ] { act(words, in: top) }
            let mirror = Mirror(of: top)
            let presentation = try FilePresentation(of: top, mirror)
            for batch in [
                // Out of a folder that goes.
                ["mv d/x x", "mv d/e e", "rm d"],
                // Two folders change places.
                ["mv a t", "mv b a", "mv t b"],
                // A folder takes the place of that around it.
                ["mv p/c q", "rm p", "mv q p"],
                // Into folders that are new, or were moved.
                ["mkdir new", "mv x new/x", "mv new new2", "mv f new2/f"],
                // A folder goes into one that takes its place.
                ["mv a t", "mkdir a", "mv t a/a", "touch a/f"],
            ] {
                for words in batch { act(words, in: top) }
                expectSoon(
                    "\(batch): \(mirror.paths.withLock { $0 }.sorted())"
                ) { mirror.paths.withLock { $0 } == Mirror.paths(below: top) }
            }
            #expect(mirror.strange.withLock { $0 } == [])
            presentation.end()
        }
    }

    @Test func `whatever happens together, what is told leads to what there is`() throws {
        try withVolume(.plain) { volume in
            let top = volume.directory
            let mirror = Mirror(of: top)
            let presentation = try FilePresentation(of: top, mirror)
            let seed = UInt64.random(in: .min ... .max)
            var random = SplitMix(seed: seed)
            for number in 0..<60 {
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    func path() -> String {
                        let depth = Int.random(in: 1...3, using: &random)
                        return (0..<depth).map { _ in String("abc".randomElement(using: &random)!) }
                            .joined(separator: "/")
                    }
                    let word = ["mv", "mv", "mv", "mkdir", "mkdir", "touch", "touch", "rm"]
                        .randomElement(using: &random)!
                    act("\(word) \(path()) \(path())", in: top)
                }
                expectSoon("seed \(seed), batch \(number)") {
                    mirror.paths.withLock { $0 } == Mirror.paths(below: top)
                }
            }
            #expect(mirror.strange.withLock { $0 } == [], "seed \(seed)")
            presentation.end()
        }
    }
}
