package import Model
internal import SystemCalls

/// Blobs in a collection of a WebDAV server: `ab/<hash>`.
///
/// Servers differ in what they make of conditions, so nothing depends on them: a blob is put under a
/// name of its own in `incoming/`, got back and compared, and moved to its place.
package final class WebDAVStore: ContentStore {
    /// A blob larger than this is looked for before it is sent.
    private static let askLimit: Int64 = 256 << 10

    package let address: String
    let path: String
    let transport: WebDAVTransport
    private let serial = Lock(UInt64.random(in: 0...UInt64.max))

    /// Credentials are looked for where ``CredentialSource`` says.
    package convenience init(_ address: WebDAVAddress, timeouts: Timeouts = Timeouts()) {
        self.init(address, CredentialSource(for: address), timeouts)
    }

    init(_ address: WebDAVAddress, _ source: CredentialSource, _ timeouts: Timeouts) {
        self.address = address.description
        path = address.path
        transport = WebDAVTransport(address, source, timeouts)
    }

    func url(_ hash: ContentHash) -> String { transport.url("\(path)/\(hash.fanOut)/\(hash)") }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        var made = ""
        var isTaken = false
        for name in path.split(separator: "/").map(String.init) + ["incoming"] {
            made += "/" + name
            let answer = try makeCollection(made, call)
            // What is there already answers 405; above our own folder, perhaps something else.
            isTaken = answer.head.status == 405
            if isTaken || answer.head.status == 201 { continue }
            let isThere = try exists(made, call)
            guard isThere else {
                throw transport.answers.error(answer, "the collection cannot be made")
            }
        }
        // A server that knows no WebDAV, or not there, answers 405, too.
        if isTaken, try !exists(made, call) {
            throw StoreError(
                .refused(status: 405), at: address,
                "the collection cannot be made: the server answers 405 and has none there; is it one of "
                    + "WebDAV, and the path one of its collections?")
        }
    }

    /// Whether there is a collection.
    private func exists(_ path: String, _ call: StoreCall) throws(StoreError) -> Bool {
        var request = HTTPRequest("PROPFIND", transport.url(path + "/"))
        request.headers = [("Depth", "0")]
        request.bodyLimit = 1 << 20
        let status = try transport.send(request, call).head.status
        return status == 207
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        let source = try CheckedSource(source, of: blob, for: address)
        if !call.replaces, blob.size > Self.askLimit, try stat(blob.hash, call) == blob.size {
            return
        }
        let temporary = transport.url("\(path)/incoming/\(blob.hash).\(nextSerial())")
        do throws(StoreError) {
            try upload(blob, source, to: temporary, call)
            try compare(temporary, blob, call)
            try settle(temporary, blob, call)
        } catch {
            // Also after a cancellation, which must not stop this one request.
            let farewell = StoreCall(
                cancellation: Cancellation(deadline: MonotonicClock.after(milliseconds: 2_000)))
            if error.kind != .unreachable, error.kind != .timedOut {
                _ = try? transport.send(HTTPRequest("DELETE", temporary), farewell)
            }
            throw error
        }
    }

    private func upload(
        _ blob: Blob, _ source: CheckedSource, to temporary: String, _ call: StoreCall
    ) throws(StoreError) {
        var request = HTTPRequest("PUT", temporary)
        request.headers = [("Content-Type", "application/octet-stream")]
        request.body = .stream(source, blob.range)
        let answer = try transport.send(request, call)
        guard [200, 201, 204].contains(answer.head.status) else {
            // 404 and 409: the folder for it is not there.
            if [404, 409].contains(answer.head.status) {
                throw StoreError(
                    .unreachable, at: address,
                    "this is no content store: there is no collection incoming")
            }
            throw transport.answers.error(answer, "putting \(blob.hash)")
        }
    }

    /// Gets back what was uploaded: there is no way to tell the server what bytes should have come.
    ///
    /// Once more if they are others, since the fault may lie on the way back.
    private func compare(_ temporary: String, _ blob: Blob, _ call: StoreCall) throws(StoreError) {
        // Its size is asked for anyway.
        if blob.size == 0 { return }
        do throws(StoreError) { try compareOnce(temporary, blob, call) } catch {
            guard error.kind == .corrupt else { throw error }
            try compareOnce(temporary, blob, call)
        }
    }

    private func compareOnce(_ temporary: String, _ blob: Blob, _ call: StoreCall)
        throws(StoreError)
    {
        let sink = DigestSink()
        // Whoever follows the call has been told of all that was sent.
        let quiet = StoreCall(cancellation: call.cancellation, urgency: call.urgency)
        while sink.next < blob.size {
            let start = sink.next
            do throws(StoreError) {
                try get(temporary, blob, start..<blob.size, into: sink, quiet)
            } catch {
                // What was sent is not to be sent again for a connection that ends on the way back.
                guard error.isTransient, sink.next > start else { throw error }
            }
        }
        guard sink.digest.finish() == blob.hash.bytes else {
            throw StoreError(
                .corrupt, at: address, "\(blob.hash) has been put, and came back with other bytes")
        }
    }

    /// Hashes what comes, one byte after the other.
    private final class DigestSink: BlobSink {
        let digest = RunningDigest(.sha256)
        /// The offset of the byte that is to come.
        private(set) var next: Int64 = 0

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            digest.update(bytes)
            next = offset + Int64(bytes.count)
        }
    }

    /// Moves what was uploaded to its place.
    private func settle(_ temporary: String, _ blob: Blob, _ call: StoreCall) throws(StoreError) {
        var isFolderMade = false
        var overwrite = call.replaces ? "T" : "F"
        while true {
            var request = HTTPRequest("MOVE", temporary)
            request.headers = [("Destination", url(blob.hash)), ("Overwrite", overwrite)]
            let answer = try sendUntilUnlocked(request, call)
            switch answer.head.status {
            case 200, 201, 204: return
            case 412 where overwrite == "F":
                if try stat(blob.hash, call) == blob.size {
                    _ = try transport.send(HTTPRequest("DELETE", temporary), call)
                    return
                }
                overwrite = "T"
            case let status where !isFolderMade && Self.saysFolderIsMissing(status):
                isFolderMade = true
                _ = try makeCollection("\(path)/\(blob.hash.fanOut)", call)
            default: throw transport.answers.error(answer, "naming \(blob.hash)")
            }
        }
    }

    func makeCollection(_ path: String, _ call: StoreCall) throws(StoreError) -> HTTPAnswer {
        try sendUntilUnlocked(HTTPRequest("MKCOL", transport.url(path + "/")), call)
    }

    /// Sends a MOVE or MKCOL, and again while somebody else's at the same place, or beside it, locks that:
    /// rclone's server says so with 423, and has done nothing then: a collection that is locked may not be
    /// there yet.
    func sendUntilUnlocked(_ request: HTTPRequest, _ call: StoreCall) throws(StoreError)
        -> HTTPAnswer
    {
        for _ in 0..<20 {
            let answer = try transport.send(request, call)
            if answer.head.status != 423 { return answer }
            try call.cancellation.sleep(nanoseconds: 50_000_000, at: address)
        }
        return try transport.send(request, call)
    }

    /// Whether a MOVE may have failed for want of the folder it leads to: 409 by the standard, 500 in
    /// Apache's words, 403 in those of rclone's server.
    static func saysFolderIsMissing(_ status: Int) -> Bool {
        [403, 404, 409, 500].contains(status)
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        // There is no way to ask for nothing.
        if range.isEmpty { return try require(blob, call) }
        try get(url(blob.hash), blob, range, into: sink, call)
    }

    private func get(
        _ url: String, _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink,
        _ call: StoreCall
    ) throws(StoreError) {
        let receiver = BlobReceiver(blob, range, sink, call, address: address)
        var request = HTTPRequest("GET", url)
        if let field = receiver.rangeField { request.headers = [("Range", field)] }
        let answer = try transport.send(request, receiver: receiver, call)
        guard [200, 206].contains(answer.head.status) else {
            if answer.head.status == 404 { try requireStore(call) }
            throw transport.answers.error(answer, "getting \(blob.hash)")
        }
        try transport.answers.requireAll(receiver)
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        let answer = try transport.send(HTTPRequest("HEAD", url(hash)), call)
        switch answer.head.status {
        case 200:
            if let size = answer.head.contentLength, size > 0 { return size }
            // The file is empty, or the server tells the length of an answer that has no body.
            if let size = try listedSize(hash, call) { return size }
            // A server leaves the length out for an empty file; one that would send chunks does not know.
            guard answer.head.field("transfer-encoding") == nil else {
                throw transport.answers.error(answer, "the size of \(hash) is missing")
            }
            return 0
        case 404, 410:
            try requireStore(call)
            return nil
        case 405, 501:
            // It knows no HEAD.
            let listing = try listing(hash, call)
            if [404, 410].contains(listing.head.status) {
                try requireStore(call)
                return nil
            }
            if let size = Self.size(in: listing) { return size }
            throw transport.answers.error(answer, "looking for \(hash)")
        default: throw transport.answers.error(answer, "looking for \(hash)")
        }
    }

    /// The size of a blob as a listing has it; `nil` if that does not tell.
    private func listedSize(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        Self.size(in: try listing(hash, call))
    }

    /// The answer to what a blob's size is.
    private func listing(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> HTTPAnswer {
        let request = HTTPRequest.propfind(url(hash), depth: "0", "<getcontentlength/>")
        let answer = try transport.send(request, call)
        let problem = transport.answers.error(answer, "asking for the size of \(hash)")
        if problem.isTransient { throw problem }
        return answer
    }

    private static func size(in listing: HTTPAnswer) -> Int64? {
        guard listing.head.status == 207 else { return nil }
        let response = XMLDocument.root(of: listing.body)?.first("response")
        return response.flatMap { Int64($0.foundProperties.text("getcontentlength")) }
    }

    /// Throws `unreachable` if there is no store at all, so that nobody takes its blobs for gone.
    func requireStore(_ call: StoreCall) throws(StoreError) {
        guard try !exists(path + "/incoming", call) else { return }
        throw StoreError(
            .unreachable, at: address, "this is no content store: there is no collection incoming")
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        let answer = try transport.send(HTTPRequest("DELETE", url(hash)), call)
        guard [200, 202, 204, 404, 410].contains(answer.head.status) else {
            throw transport.answers.error(answer, "removing \(hash)")
        }
    }

    func nextSerial() -> String {
        serial.withLock { serial in
            serial &+= 1
            return String(serial, radix: 16)
        }
    }
}
