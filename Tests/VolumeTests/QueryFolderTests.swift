import Model
import SystemCalls
import Testing

@testable import FileSystem

/// The folders of saved queries.
@Suite struct QueryFolderTests {
    @Test func `who looks at a query's folder at the same time as others finds its results`() throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a.txt", [1])
            let volume = container.volume
            let query = try #require(Query("name=*.txt"))
            let (count, counts) = (4, Monitor<[Int?]>([]))
            for round in 0..<200 {
                let gate = Monitor(0)
                for _ in 0..<count {
                    Threads.start("looks") {
                        gate.signal { $0 += 1 }
                        _ = gate.wait { $0 == count ? true : nil }
                        let folder = volume.queryFolders?.folder("\(round)", query)
                        counts.signal { $0.append(folder?.links.count) }
                    }
                }
                _ = counts.wait { $0.count == count * (round + 1) ? true : nil }
            }
            #expect(counts.withLock { $0 }.allSatisfy { $0 == 1 })
        }
    }
}
