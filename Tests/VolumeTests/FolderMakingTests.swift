import SystemCalls
import Testing

/// Folders that several programs make at once, as on a new machine.
struct FolderMakingTests {
    @Test func `who makes the same folders at the same moment finds them made`() throws {
        try InsideContainer.withFolder { path in
            for round in 0..<100 {
                let folder = "\(path)/\(round)/a/b/c/d/e/f"
                let makers = Monitor((left: 4, problems: [Errno]()))
                for _ in 0..<4 {
                    Threads.start("maker") {
                        var problem: Errno?
                        do throws(Errno) { try Directories.make(folder) } catch { problem = error }
                        makers.signal { state in
                            state.left -= 1
                            state.problems += [problem].compactMap(\.self)
                        }
                    }
                }
                let problems = makers.wait { $0.left == 0 ? $0.problems : nil }
                #expect(problems == [], "round \(round)")
            }
        }
    }
}
