import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// What puts that were cut off leave in stores and on real servers.
@Suite(.serialized) struct RemnantTests {
    /// What a sweep is asked about, in order of the hashes.
    private func swept(
        _ store: any ContentStore, _ isAbandoned: (Remnant) -> Bool = { _ in false }
    ) throws -> [Remnant] {
        var found: [Remnant] = []
        try store.sweep(
            { remnant in
                found.append(remnant)
                return isAbandoned(remnant)
            }, StoreCall())
        return found.sorted { $0.hash.description < $1.hash.description }
    }

    @Test(arguments: [
        Specimen.folder, .openedFolder, .s3, .openedS3, .s3ByCeph, .webDAVBasic, .webDAVByRclone,
        .openedWebDAV,
    ])
    func `what puts leave that were cut off goes when it is abandoned, and nothing else`(
        _ specimen: Specimen
    ) throws {
        let tested = try StoreUnderTest(specimen)
        defer { tested.remove() }
        let store = tested.store
        let whole = Sample(size: 100, seed: 1)
        try store.put(whole)
        #expect(try swept(store) == [])
        let samples = [2, 3].map { Sample(size: 17 << 20, seed: $0) }
        for sample in samples { try leaveRemnant(tested.base, sample) }
        let found = try swept(store)
        #expect(Set(found.map(\.hash)) == Set(samples.map(\.blob.hash)))
        #expect(found.count == 2 && Set(found.map(\.name)).count == 2)
        #expect(try swept(store) { $0.hash == samples[0].blob.hash } == found)
        #expect(try swept(store).map(\.hash) == [samples[1].blob.hash])
        // Nothing of that keeps a put from being whole.
        for sample in samples {
            try store.put(sample)
            #expect(try store.bytes(sample.blob) == sample.bytes)
        }
        #expect(try store.bytes(whole.blob) == whole.bytes)
    }

    /// Leaves what a process leaves that is killed while it puts a blob.
    private func leaveRemnant(_ address: StoreAddress, _ sample: Sample) throws {
        switch address.connect() {
        case let store as S3Store:
            let cancellation = Cancellation()
            let call = StoreCall(
                cancellation: cancellation,
                progress: { if $0 > 8 << 20 { cancellation.cancel() } })
            #expect(kind { () throws(StoreError) in try store.put(sample, call) } == .cancelled)
        case let store as WebDAVStore:
            let name = "\(sample.blob.hash).\(store.nextSerial())"
            var request = HTTPRequest(
                "PUT", store.transport.url("\(store.path)/incoming/\(name)"))
            request.body = .bytes(Array(sample.bytes.prefix(1_000)))
            #expect(try store.transport.send(request, StoreCall()).head.status == 201)
        case let store as FolderStore:
            let name = "\(sample.blob.hash).\(store.nextSerial())"
            try StoreUnderTest.write("half", to: "\(store.incoming)/\(name)")
        default: Issue.record("such a store has no remnants")
        }
    }
}
