import Model
import Probing
import SystemCalls
import Testing

@testable import Stores

/// What every store and every wrapper promises.
@Suite(.serialized) struct ContractTests {
    @Test(arguments: Specimen.allCases)
    func `what was put comes back, whole and in parts`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        for size in [0, 1, 4_096, 300_001] {
            let sample = Sample(size: size, seed: UInt64(size))
            try store.put(sample)
            #expect(try store.stat(sample.blob.hash, StoreCall()) == Int64(size))
            #expect(try store.bytes(sample.blob) == sample.bytes)
        }
        let sample = Sample(size: 300_001, seed: 300_001)
        for range in [0..<1, 1..<2, 4_095..<8_193, 299_999..<300_001, 7..<7] as [Range<Int64>] {
            let part = Array(sample.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            #expect(try store.bytes(sample.blob, range) == part)
        }
    }

    @Test(arguments: Specimen.allCases)
    func `what is not there is absent, and removing it is no error`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 100, seed: 1)
        #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
        #expect(kind { () throws(StoreError) in _ = try store.bytes(sample.blob) } == .absent)
        try store.delete(sample.blob.hash, StoreCall())
        try store.put(sample)
        try store.delete(sample.blob.hash, StoreCall())
        #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
        #expect(kind { () throws(StoreError) in _ = try store.bytes(sample.blob) } == .absent)
    }

    @Test(arguments: Specimen.allCases)
    func `companions stand beside the blobs and can be replaced`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 100, seed: 1)
        let first = try #require(Companion(sample.blob.hash, kind: "slide-1"))
        let second = try #require(Companion(sample.blob.hash, kind: "shape-1"))
        #expect(try store.get(first, StoreCall()) == nil)
        for bytes in [Sample(size: 70_000, seed: 2).bytes, Sample(size: 10, seed: 3).bytes, []] {
            try store.put(first, bytes, StoreCall())
            #expect(try store.get(first, StoreCall()) == bytes)
        }
        #expect(try store.get(second, StoreCall()) == nil)
        #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
        try store.put(sample)
        let page = try store.list(after: nil, limit: 10, StoreCall())
        #expect(page.blobs == [sample.blob] && page.isLast)
        #expect(Companion(sample.blob.hash, kind: "a/b") == nil)
    }

    @Test(arguments: Specimen.allCases)
    func `putting twice is as putting once`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        for sample in [Sample(size: 10, seed: 1), Sample(size: 400_000, seed: 2)] {
            try store.put(sample)
            try store.put(sample)
            #expect(try store.bytes(sample.blob) == sample.bytes)
        }
        let page = try store.list(after: nil, limit: 10, StoreCall())
        #expect(page.blobs.count == 2 && page.isLast)
    }

    @Test(arguments: Specimen.allCases)
    func `bytes that are not the blob's are not stored`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 300_000, seed: 1)
        var wrong = sample.bytes
        wrong[299_999] ^= 1
        for bytes in [wrong, Array(sample.bytes.dropLast()), []] {
            let problem = kind { () throws(StoreError) in
                try store.put(sample.blob, from: MemorySource(bytes), StoreCall())
            }
            #expect(problem == .corrupt)
            #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
        }
        let empty = Blob(hash: sample.blob.hash, size: 0)
        #expect(
            kind { () throws(StoreError) in
                try store.put(empty, from: MemorySource([]), StoreCall())
            } == .corrupt)
        #expect(try store.list(after: nil, limit: 10, StoreCall()).blobs == [])
        try store.put(sample)
        #expect(try store.bytes(sample.blob) == sample.bytes)
    }

    @Test(arguments: Specimen.allCases)
    func `a blob of another size than expected is corrupt`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 1_000, seed: 1)
        try store.put(sample)
        for size in [999, 1_001, 0] as [Int64] {
            let blob = Blob(hash: sample.blob.hash, size: size)
            #expect(kind { () throws(StoreError) in _ = try store.bytes(blob) } == .corrupt)
        }
        let longer = Blob(hash: sample.blob.hash, size: 5_000)
        #expect(
            kind { () throws(StoreError) in _ = try store.bytes(longer, 2_000..<3_000) }
                == .corrupt)
        #expect(
            kind { () throws(StoreError) in _ = try store.bytes(longer, 900..<1_100) } == .corrupt)
    }

    @Test(arguments: Specimen.allCases)
    func `the listing has every blob once, in order, page by page`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        #expect(
            try store.list(after: nil, limit: 5, StoreCall()) == BlobPage(blobs: [], isLast: true))
        let samples = (0..<13).map { Sample(size: $0 * 7, seed: UInt64($0)) }
        for sample in samples { try store.put(sample) }
        let expected = samples.map(\.blob)
            .sorted { $0.hash.description < $1.hash.description }
        for limit in [1, 4, 13, 100] {
            var found: [Blob] = []
            while true {
                let page = try store.list(after: found.last?.hash, limit: limit, StoreCall())
                #expect(page.blobs.count <= limit)
                found += page.blobs
                if page.isLast || page.blobs.isEmpty { break }
            }
            #expect(found == expected)
        }
    }

    @Test(arguments: Specimen.allCases)
    func `progress grows up to the blob's size`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 200_000, seed: 1)
        for isPut in [true, false] {
            let seen = Lock<[Int64]>([])
            let call = StoreCall(progress: { count in seen.withLock { $0.append(count) } })
            if isPut {
                try store.put(sample, call)
            } else {
                try store.get(sample.blob, into: MemorySink(), call)
            }
            let counts = seen.withLock { $0 }
            #expect(counts.last == 200_000)
            #expect(counts == counts.sorted())
        }
    }

    @Test(arguments: Specimen.allCases)
    func `a cancelled call and one whose time is over do not begin`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 100, seed: 1)
        let cancelled = StoreCall()
        cancelled.cancellation.cancel()
        let late = StoreCall(cancellation: Cancellation(deadline: MonotonicClock.now))
        for (call, expected) in [(cancelled, .cancelled), (late, .timedOut)]
            as [(StoreCall, StoreError.Kind)]
        {
            #expect(kind { () throws(StoreError) in try store.put(sample, call) } == expected)
            #expect(
                kind { () throws(StoreError) in _ = try store.stat(sample.blob.hash, call) }
                    == expected)
        }
        #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
    }

    @Test(arguments: Specimen.allCases)
    func `a put that is cancelled midway leaves nothing that could be taken for the blob`(
        _ specimen: Specimen
    ) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 6_000_000, seed: 9)
        let cancellation = Cancellation()
        let call = StoreCall(
            cancellation: cancellation,
            progress: { if $0 > 1_000_000 { cancellation.cancel() } })
        #expect(kind { () throws(StoreError) in try store.put(sample, call) } == .cancelled)
        #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
        try store.put(sample)
        #expect(try store.bytes(sample.blob) == sample.bytes)
    }

    @Test(arguments: Specimen.allCases)
    func `many threads at once get on`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let left = Monitor(8)
        let problems = Lock<[String]>([])
        for thread in 0..<8 {
            Threads.start("contract") {
                do {
                    for round in 0..<4 {
                        // Half of the blobs are put by two threads.
                        let seed = UInt64(thread / 2 * 10 + round * (thread % 2 + 1))
                        let sample = Sample(size: 20_000 + round, seed: seed)
                        try store.put(sample)
                        if try store.bytes(sample.blob) != sample.bytes {
                            problems.withLock { $0.append("wrong bytes") }
                        }
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
                left.signal { $0 -= 1 }
            }
        }
        let end = MonotonicClock.after(milliseconds: 300_000)
        #expect(left.wait(until: end) { $0 == 0 ? true : nil } == true)
        #expect(problems.withLock { $0 } == [])
    }

    @Test(arguments: Specimen.stores)
    func `what is removed is not listed any more, is not in the way, and takes nothing else along`(
        _ specimen: Specimen
    ) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        // The first one goes to S3 in parts.
        let samples = [17 << 20, 0, 1, 70_000].map { Sample(size: $0, seed: UInt64($0)) }
        let kept = Sample(size: 50, seed: 50)
        let companion = try #require(Companion(samples[0].blob.hash, kind: "slide-1"))
        try store.put(kept)
        try store.put(companion, [1, 2, 3], StoreCall())
        for sample in samples {
            try store.put(sample)
            try store.delete(sample.blob.hash, StoreCall())
            try store.delete(sample.blob.hash, StoreCall())
            let page = try store.list(after: nil, limit: 10, StoreCall())
            #expect(page.blobs == [kept.blob] && page.isLast)
            #expect(try store.stat(sample.blob.hash, StoreCall()) == nil)
        }
        #expect(try store.get(companion, StoreCall()) == [1, 2, 3])
        for sample in samples {
            try store.put(sample)
            #expect(try store.bytes(sample.blob) == sample.bytes)
        }
        #expect(try store.bytes(kept.blob) == kept.bytes)
    }

    @Test(arguments: Specimen.stores)
    func `a large blob goes through`(_ specimen: Specimen) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let sample = Sample(size: 20_000_003, seed: 5)
        try store.put(sample)
        #expect(try store.bytes(sample.blob) == sample.bytes)
        let border = Int64(8 << 20)
        #expect(
            try store.bytes(sample.blob, border - 3..<border + 3)
                == Array(sample.bytes[(8 << 20) - 3..<(8 << 20) + 3]))
    }
}
