import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// Marks of versions that several set at the same time.
@Suite struct VersionMarkTests {
    private let caller = InsideContainer.caller(of: getpid())

    @Test func `pins that are set and taken away at once are what is recorded`() throws {
        try InsideContainer.withFolder { path in
            var marked: Set<NodeNumber> = []
            do {
                let container = try InsideContainer(path)
                defer { container.close() }
                let volume = container.volume
                for number in 0..<300 {
                    let name = "\(number)"
                    try container.save(name, [1])
                    let node = try #require(try container.find(name))
                    let gate = Monitor((begun: 0, ended: 0))
                    for word in ["keep", "default", "keep", "default"] {
                        Threads.start("marks") {
                            gate.signal { $0.begun += 1 }
                            _ = gate.wait { $0.begun == 4 ? true : nil }
                            try? volume.setVersionMark(
                                .pin, node, node.versionName[...], word, caller)
                            gate.signal { $0.ended += 1 }
                        }
                    }
                    _ = gate.wait { $0.ended == 4 ? true : nil }
                    if volume.state.withLock({ $0.marks.has(.pin, node) }) { marked.insert(node) }
                }
            }
            let container = try InsideContainer(path)
            defer { container.close() }
            #expect(container.volume.state.withLock { $0.marks.pinned } == marked)
        }
    }
}
