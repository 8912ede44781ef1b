package import Model
internal import SystemCalls

/// Blobs in a bucket of Amazon S3 or of a server that speaks like it: `PREFIX/ab/<hash>`.
package final class S3Store: ContentStore {
    /// Blobs up to this many bytes are put with one request.
    package static let singleLimit: Int64 = 16 << 20

    package let address: String
    let prefix: String
    let transport: S3Transport

    /// Credentials are looked for where ``CredentialSource`` says.
    package convenience init(_ address: S3Address, timeouts: Timeouts = Timeouts()) {
        self.init(address, CredentialSource(for: address), timeouts)
    }

    init(_ address: S3Address, _ source: CredentialSource, _ timeouts: Timeouts) {
        self.address = address.description
        prefix = address.prefix.isEmpty ? "" : address.prefix + "/"
        transport = S3Transport(address, source, timeouts)
    }

    func key(_ hash: ContentHash) -> String { "\(prefix)\(hash.fanOut)/\(hash)" }

    /// The error for an answer, with the server's own words. S3 may answer what it does not know or
    /// does not allow with the same status as other things: the code in the body decides.
    func error(_ answer: HTTPAnswer, _ doing: String) -> StoreError {
        guard let problem = S3Problem(answer) else { return transport.answers.error(answer, doing) }
        let words = "\(problem.code), \(problem.message)"
        let isLate = problem.code == "RequestTimeTooSkewed"
        let general = transport.answers.error(
            answer, doing, words: words,
            why: isLate ? "this machine's clock and the server's are too far apart" : nil)
        let kind: StoreError.Kind =
            switch problem.code {
            case "NoSuchBucket": .unreachable
            case "BadDigest", "XAmzContentSHA256Mismatch", "InvalidDigest": .corrupt
            case "RequestTimeout": .timedOut
            // Also in an answer whose status was sent before it was known.
            case "InternalError", "ServiceUnavailable", "SlowDown": .refused(status: 503)
            case "QuotaExceeded", "EntityTooLarge", "StorageFull": .full
            default: general.kind
            }
        return StoreError(kind, at: address, general.reason, retryAfter: general.retryAfter)
    }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        let answer = try transport.send(S3Request(method: "HEAD"), call)
        if answer.head.status == 200 { return try requireListing(call) }
        guard answer.head.status == 404 else { throw error(answer, "the bucket") }
        var request = S3Request(method: "PUT")
        // us-east-1 is the one region that must not be named.
        if transport.region != "us-east-1" {
            let text =
                "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<LocationConstraint>\(transport.region)</LocationConstraint>"
                + "</CreateBucketConfiguration>"
            request.setBody(Array(text.utf8))
        }
        let made = try transport.send(request, call)
        let isThere = S3Problem(made)?.code == "BucketAlreadyOwnedByYou"
        guard made.head.status == 200 || isThere else {
            throw error(made, "the bucket cannot be made")
        }
    }

    /// Any web server may have something under the bucket's name, as the page of a console, and a page that
    /// a network wants to be read first. Who may not list may have a bucket all the same.
    private func requireListing(_ call: StoreCall) throws(StoreError) {
        do throws(StoreError) { _ = try page(after: nil, limit: 1, call) } catch {
            guard error.kind == .corrupt else { return }
            throw StoreError(
                .corrupt, at: address,
                "the bucket: \(error.reason); is the endpoint a server of S3?")
        }
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        let source = try CheckedSource(source, of: blob, for: address)
        if blob.size > Self.singleLimit {
            if !call.replaces, try stat(blob.hash, call) == blob.size { return }
            try MultipartUpload(store: self, blob: blob, source: source, call: call).run()
            return
        }
        var request = S3Request(method: "PUT", key: key(blob.hash))
        request.body = .stream(source, blob.range)
        // The name is the body's hash: the server compares.
        request.payloadHash = blob.hash.description
        request.headers = [("content-type", "application/octet-stream")]
        if !call.replaces { request.headers.append(("if-none-match", "*")) }
        var answer: HTTPAnswer
        do throws(StoreError) { answer = try transport.send(request, call) } catch {
            // Who says that it is there before the body has come may close the connection with that, and
            // what is in between may let no more through than the end of it.
            if !call.replaces, error.kind == .unreachable, source.isBegun,
                (try? stat(blob.hash, call)) == blob.size
            {
                return
            }
            throw error
        }
        if !call.replaces, [412, 501].contains(answer.head.status) {
            // It is there already, which is well if it has its size; or the server does not know
            // the condition.
            if answer.head.status == 412 {
                if try stat(blob.hash, call) == blob.size { return }
            }
            request.headers.removeLast()
            answer = try transport.send(request, call)
        }
        guard answer.head.status == 200 else { throw error(answer, "putting \(blob.hash)") }
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        let receiver = BlobReceiver(blob, range, sink, call, address: address)
        var request = S3Request(method: "GET", key: key(blob.hash))
        // There is no way to ask for nothing.
        if range.isEmpty { return try require(blob, call) }
        if let field = receiver.rangeField { request.headers.append(("range", field)) }
        let answer = try transport.send(request, receiver: receiver, call)
        guard [200, 206].contains(answer.head.status) else {
            throw error(answer, "getting \(blob.hash)")
        }
        try transport.answers.requireAll(receiver)
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        let answer = try transport.send(S3Request(method: "HEAD", key: key(hash)), call)
        switch answer.head.status {
        case 200:
            guard let size = answer.head.contentLength, size >= 0 else {
                throw error(answer, "the size of \(hash) is missing")
            }
            return size
        case 404:
            // The answer to HEAD has no body that would tell a missing blob from a missing bucket.
            let bucket = try transport.send(S3Request(method: "HEAD"), call)
            if bucket.head.status == 404 {
                throw StoreError(.unreachable, at: address, "there is no such bucket")
            }
            return nil
        default: throw error(answer, "looking for \(hash)")
        }
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        let answer = try transport.send(S3Request(method: "DELETE", key: key(hash)), call)
        if [200, 204].contains(answer.head.status) { return }
        // Amazon's answers 204 as well if it is not there; others say so, some without a word.
        let code = S3Problem(answer)?.code ?? "NoSuchKey"
        guard answer.head.status == 404, code == "NoSuchKey" else {
            throw error(answer, "removing \(hash)")
        }
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        var last = hash.map(key)
        while true {
            let page = try page(after: last, limit: limit, call)
            let blobs = page.entries.compactMap(blob)
            // A page full of things that are not blobs is not the end.
            guard blobs.isEmpty, !page.isLast else {
                return BlobPage(blobs: blobs, isLast: page.isLast)
            }
            last = page.entries.last?.key
        }
    }

    private func blob(_ entry: S3Page.Entry) -> Blob? {
        guard let size = entry.size, size >= 0, let hash = ContentHash(name: entry.key.suffix(64)),
            entry.key == key(hash)
        else { return nil }
        return Blob(hash: hash, size: size)
    }
}

extension S3Request {
    /// A small body, with the checksums that go with it.
    mutating func setBody(_ bytes: [UInt8]) {
        body = .bytes(bytes)
        payloadHash = Hexadecimal.text(RunningDigest.of(bytes))
        headers.append(("content-md5", Notation.base64(RunningDigest.of(bytes, .md5))))
    }
}
