internal import SystemCalls

/// Takes the body of an answer while it comes. Used by one thread.
protocol BodyReceiver: AnyObject {
    /// Whether the body that follows is what it waits for; others are collected.
    func accept(_ head: HTTPHead) throws(StoreError) -> Bool
    /// Takes the next bytes of the body.
    func take(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
    /// Whether the rest of the answer is of no interest.
    func hasEnough(_ head: HTTPHead) -> Bool
    /// The answer comes from another place of the server than was asked, if it does not send us on again.
    func noteRedirect(to url: String)
}

extension BodyReceiver {
    func noteRedirect(to url: String) {}
}

/// Takes a part of a blob from an answer to a GET: checks what the head says of it and hands the bytes
/// of the range to a sink.
final class BlobReceiver: BodyReceiver {
    private let blob: Blob
    private let range: Range<Int64>
    private let sink: any BlobSink
    private let call: StoreCall
    private let address: String
    /// What the answer has to be about, where it is not a blob of ours.
    private let object: SourceObject?
    /// Whether the version of what comes without one is found out afterwards.
    private let isCheckedAfter: Bool
    /// An answer came that does not say which version it is of, though the listing did.
    private(set) var isUntold = false
    /// Is given what the sink is.
    private let digest: RunningDigest?
    /// What it means if a small content of a foreign tree that comes in a coding ends too soon. What has
    /// come is held until all has: the rest must not be taken up behind bytes that are not its own.
    private(set) var problemIfShort: StoreError?
    private var held: [UInt8] = []
    /// The blob's offset of the next byte that comes.
    private var position: Int64
    /// Where a range that the server sends ends.
    private var sentEnd: Int64 = 0
    /// The next byte the sink wants.
    private(set) var delivered: Int64

    init(
        _ blob: Blob, _ range: Range<Int64>, _ sink: any BlobSink, _ call: StoreCall,
        address: String, object: SourceObject? = nil, isCheckedAfter: Bool = false,
        digest: RunningDigest? = nil
    ) {
        self.blob = blob
        self.range = range
        self.sink = sink
        self.call = call
        self.address = address
        self.object = object
        self.isCheckedAfter = isCheckedAfter
        self.digest = digest
        position = 0
        delivered = range.lowerBound
    }

    /// The value of the request's `Range`; `nil` for all of the blob.
    var rangeField: String? {
        range == blob.range ? nil : "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    }

    var isComplete: Bool { delivered == range.upperBound }

    /// A server that ignored the range would go on to the blob's end, and one may send a longer range.
    func hasEnough(_ head: HTTPHead) -> Bool {
        isComplete && rangeField != nil && (head.status == 200 || sentEnd > range.upperBound)
    }

    /// Whether the body that follows is the blob's. A server may ignore `Range` and send all.
    func accept(_ head: HTTPHead) throws(StoreError) -> Bool {
        if let object, head.status == 200 || head.status == 206,
            !SourceTag.matches(object.tag, head), !isAllAtOnce(object)
        {
            if SourceTag.isTold(object.tag, head) { throw object.changed(address) }
            isUntold = !SourceTag.isOnlySize(object.tag)
            // Where each part came with all before it, a large content would cost a multiple of its size.
            guard isUntold, isCheckedAfter, rangeField == nil || head.status == 206 else {
                throw object.untold(address)
            }
        }
        switch head.status {
        case 200:
            position = 0
            if rangeField != nil { call.ignoresRange?() }
            let problem = codingProblem(head, of: blob.size)
            if let length = head.contentLength {
                // Of a coding the size says nothing about the content's.
                if let problem { throw problem }
                try compare(size: length)
            } else if let problem {
                if rangeField != nil || (object?.isSeenInParts ?? false) { throw problem }
                // Ours are compared with their hashes.
                if object != nil { problemIfShort = problem }
            }
            return true
        case 206:
            // A server may send less of a range than it was asked for; the rest is asked for then.
            guard let part = head.contentRange, part.range.lowerBound <= range.lowerBound,
                part.range.upperBound >= (rangeField == nil ? blob.size : range.lowerBound + 1)
            else {
                throw StoreError(
                    .corrupt, at: address, "the answer holds another range than was asked for")
            }
            if let size = part.size { try compare(size: size) }
            if let problem = codingProblem(head, of: Int64(part.range.count)) { throw problem }
            (position, sentEnd) = (part.range.lowerBound, part.range.upperBound)
            return true
        default: return false
        }
    }

    /// Whether the object is one that nothing but its size tells from other versions, and comes in one
    /// answer: then it is of one version, whichever.
    private func isAllAtOnce(_ object: SourceObject) -> Bool {
        SourceTag.isOnlySize(object.tag) && rangeField == nil && delivered == range.lowerBound
    }

    private func compare(size: Int64) throws(StoreError) {
        guard size != blob.size else { return }
        if let object { throw object.changed(address) }
        throw StoreError(
            .corrupt, at: address,
            "\(name) has \(size) bytes there and should have \(blob.size)")
    }

    /// What the bytes are of, for messages.
    var name: String { object?.name ?? blob.hash.description }

    /// The error if the bytes that follow are in a coding that nobody asked for. If there are as many as
    /// there should be they lie there in it, and are the blob's own.
    private func codingProblem(_ head: HTTPHead, of count: Int64) -> StoreError? {
        guard let coding = head.field("content-encoding"), coding.lowercased() != "identity",
            head.contentLength != count
        else { return nil }
        return StoreError(
            .corrupt, at: address,
            "the server sends \(name) in another coding:"
                + " \(Answers.tame(coding))")
    }

    /// Takes the next bytes of the body. Those outside the range are dropped.
    func take(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        let start = position
        position += Int64(bytes.count)
        if position > blob.size {
            throw problemIfShort
                ?? StoreError(
                    .corrupt, at: address,
                    "\(name) has more bytes there than the \(blob.size) it should have")
        }
        guard problemIfShort != nil else { return try deliver(bytes, from: start) }
        held.append(contentsOf: bytes)
        guard position == blob.size else { return }
        try held.withUnsafeBufferPointer { (all) throws(StoreError) in
            try deliver(UnsafeRawBufferPointer(all), from: 0)
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, from start: Int64) throws(StoreError) {
        let from = max(start, range.lowerBound)
        let end = min(start + Int64(bytes.count), range.upperBound)
        guard from < end else { return }
        let part = UnsafeRawBufferPointer(rebasing: bytes[Int(from - start)..<Int(end - start)])
        try sink.write(part, at: from)
        digest?.update(part)
        delivered = end
        call.progress?(end - range.lowerBound)
    }
}
