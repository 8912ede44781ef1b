internal import Model
internal import SystemCalls

/// Puts one large blob in parts. An upload that was cut off is found again at the server and goes on
/// with the parts that are missing, also after this process was killed.
struct MultipartUpload {
    /// S3's limit is 10,000.
    private static let partLimit: Int64 = 9_000

    let store: S3Store
    let blob: Blob
    let source: CheckedSource
    let call: StoreCall

    private struct Part {
        let number: Int
        let range: Range<Int64>
    }

    /// A part as the server has it.
    private struct StoredPart {
        let tag: String
        let size: Int64
    }

    private var key: String { store.key(blob.hash) }

    /// Depends on the blob's size only, so that whoever goes on with an upload cuts it alike.
    private var partSize: Int64 {
        let least = (blob.size + Self.partLimit - 1) / Self.partLimit
        let mebibyte: Int64 = 1 << 20
        return max(S3Store.singleLimit / 2, (least + mebibyte - 1) / mebibyte * mebibyte)
    }

    private var parts: [Part] {
        stride(from: 0, to: blob.size, by: Int(partSize)).enumerated().map { index, start in
            Part(number: index + 1, range: start..<min(start + partSize, blob.size))
        }
    }

    func run() throws(StoreError) {
        let found: String?
        do throws(StoreError) { found = try find() } catch {
            guard isUntold(error) else { throw error }
            return try putUnseen()
        }
        if let found {
            do throws(StoreError) { try finish(found, try toldParts(found)) } catch {
                guard isRefused(error) else { throw error }
                // It would be refused for ever: what the server has of it may be lost, or other than it says.
                giveUp(found)
                try beginAnew()
            }
        } else {
            try finish(try begin(), [:])
        }
        try requireWhole()
    }

    /// Whether the server does not tell which uploads there are, or not to us: those who may put things need not
    /// be allowed to look.
    private func isUntold(_ error: StoreError) -> Bool {
        switch error.kind {
        case .denied, .absent: true
        case .refused: !error.isTransient
        case .unreachable, .timedOut, .corrupt, .full, .cancelled, .local: false
        }
    }

    /// Puts all of it where nobody could go on with an upload that was cut off: that is taken away.
    private func putUnseen() throws(StoreError) {
        let identifier = try begin()
        do throws(StoreError) { try finish(identifier, [:]) } catch {
            giveUp(identifier)
            throw error
        }
        try requireWhole()
    }

    /// The answer to a completion is not to be trusted alone: it may begin before it is done.
    private func requireWhole() throws(StoreError) {
        guard try store.stat(blob.hash, call) == blob.size else {
            throw StoreError(
                .corrupt, at: store.address, "\(blob.hash) has another size after it was put")
        }
    }

    /// Puts the parts that are not stored, and makes the blob of all.
    private func finish(_ identifier: String, _ stored: [Int: StoredPart]) throws(StoreError) {
        var tags: [String] = []
        for part in parts { tags.append(try put(part, identifier, stored[part.number])) }
        try complete(identifier, tags)
    }

    /// What is refused again is this blob's own trouble: not all of it is sent again each time that others are.
    private func beginAnew() throws(StoreError) {
        do throws(StoreError) { try finish(try begin(), [:]) } catch {
            guard isRefused(error) else { throw error }
            throw StoreError(
                .corrupt, at: error.address, "\(error.reason); it was begun anew, and refused again"
            )
        }
    }

    /// Whether the server does not take an upload, for a reason that may lie with that upload.
    private func isRefused(_ error: StoreError) -> Bool {
        if source.isWrong { return false }
        return switch error.kind {
        case .refused, .corrupt, .absent: !error.isTransient
        case .unreachable, .timedOut, .denied, .full, .cancelled, .local: false
        }
    }

    /// How long that may take where nobody waits for the blob any more, in milliseconds: an unmount does.
    private static let farewell: UInt64 = 2_000

    /// Takes an upload and its parts away, so that nobody goes on with it; the newest counts if they stay.
    private func giveUp(_ identifier: String) {
        var ending = call
        if (try? call.cancellation.check(at: store.address)) == nil {
            ending.cancellation = Cancellation(
                deadline: MonotonicClock.after(milliseconds: Self.farewell))
        }
        var request = S3Request(method: "DELETE", key: key)
        request.query = [("uploadId", identifier)]
        _ = try? store.transport.send(request, ending)
    }

    private func send(_ request: S3Request, _ doing: String) throws(StoreError) -> HTTPAnswer {
        let answer = try store.transport.send(request, call)
        // A completion may fail after its status has been sent.
        guard answer.head.status == 200, S3Problem(answer) == nil else {
            throw store.error(answer, "\(doing) \(blob.hash)")
        }
        return answer
    }

    private func understand(_ answer: HTTPAnswer) throws(StoreError) -> XMLElement {
        guard !answer.isCut, let root = XMLDocument.root(of: answer.body) else {
            throw StoreError(.corrupt, at: store.address, "the answer cannot be understood")
        }
        return root
    }

    /// The newest upload of this blob that was begun and not finished.
    private func find() throws(StoreError) -> String? {
        let root = try store.uploads(key, call)
        return root.all("Upload").filter { $0.text("Key") == key }
            .max { $0.text("Initiated") ?? "" < $1.text("Initiated") ?? "" }?.text("UploadId")
    }

    private func begin() throws(StoreError) -> String {
        var request = S3Request(method: "POST", key: key)
        request.query = [("uploads", "")]
        request.headers = [("content-type", "application/octet-stream")]
        let root = try understand(try send(request, "beginning to put"))
        guard let identifier = root.text("UploadId"), !identifier.isEmpty else {
            throw StoreError(.corrupt, at: store.address, "the answer names no upload")
        }
        return identifier
    }

    /// The parts that the server has, as far as it tells: who may put parts need not be allowed to list them, and
    /// puts all of them again.
    private func toldParts(_ identifier: String) throws(StoreError) -> [Int: StoredPart] {
        do throws(StoreError) { return try storedParts(identifier) } catch {
            guard error.kind == .denied else { throw error }
            return [:]
        }
    }

    private func storedParts(_ identifier: String) throws(StoreError) -> [Int: StoredPart] {
        var result: [Int: StoredPart] = [:]
        var marker = 0
        while true {
            var request = S3Request(method: "GET", key: key)
            request.query = [("uploadId", identifier), ("part-number-marker", String(marker))]
            if marker == 0 { request.query.removeLast() }
            request.bodyLimit = 4 << 20
            let root = try understand(try send(request, "listing the parts of"))
            for part in root.all("Part") {
                guard let number = part.text("PartNumber").flatMap({ Int($0) }),
                    let size = part.text("Size").flatMap({ Int64($0) }),
                    let tag = part.text("ETag")
                else { continue }
                result[number] = StoredPart(
                    tag: tag.filter { $0 != "\"" }.lowercased(), size: size)
            }
            // There are no parts after the last one, whatever the server says.
            guard root.text("IsTruncated") == "true",
                let next = root.text("NextPartNumberMarker").flatMap({ Int($0) }), next > marker,
                next < parts.count
            else { return result }
            marker = next
        }
    }

    /// Puts a part unless the server has these very bytes; its tag.
    private func put(_ part: Part, _ identifier: String, _ stored: StoredPart?)
        throws(StoreError) -> String
    {
        let (sha256, md5) = try digests(of: part.range)
        let tag = Hexadecimal.text(md5)
        if let stored, stored.tag == tag, stored.size == Int64(part.range.count) {
            call.progress?(part.range.upperBound)
            return tag
        }
        var request = S3Request(method: "PUT", key: key)
        request.query = [("partNumber", String(part.number)), ("uploadId", identifier)]
        request.headers = [("content-md5", Notation.base64(md5))]
        request.payloadHash = Hexadecimal.text(sha256)
        request.body = .stream(source, part.range)
        let answer = try send(request, "putting a part of")
        return (answer.head.field("etag") ?? tag).filter { $0 != "\"" }
    }

    private func digests(of range: Range<Int64>) throws(StoreError) -> ([UInt8], [UInt8]) {
        let sha256 = RunningDigest(.sha256)
        let md5 = RunningDigest(.md5)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try call.cancellation.check(at: store.address)
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            let count = try source.read(into: part, at: offset)
            let bytes = UnsafeRawBufferPointer(rebasing: part[..<count])
            sha256.update(bytes)
            md5.update(bytes)
            offset += Int64(count)
        }
        return (sha256.finish(), md5.finish())
    }

    private func complete(_ identifier: String, _ tags: [String]) throws(StoreError) {
        let list = tags.enumerated().map {
            "<Part><PartNumber>\($0.offset + 1)</PartNumber><ETag>\"\($0.element)\"</ETag></Part>"
        }.joined()
        let text =
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(list)"
            + "</CompleteMultipartUpload>"
        var request = S3Request(method: "POST", key: key)
        request.query = [("uploadId", identifier)]
        request.setBody(Array(text.utf8))
        let answer = try store.transport.send(request, call)
        if answer.head.status == 200, S3Problem(answer) == nil { return }
        // Somebody else may have been faster with the same upload.
        if S3Problem(answer)?.code == "NoSuchUpload",
            try store.stat(blob.hash, call) == blob.size
        {
            return
        }
        throw store.error(answer, "completing \(blob.hash)")
    }
}
