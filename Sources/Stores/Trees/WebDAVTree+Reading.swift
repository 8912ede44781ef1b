internal import Synchronization
internal import SystemCalls

extension WebDAVTree {
    /// Bytes that are held at once until it is known which version they are of.
    private static let heldSize = 4 << 20

    package func read(
        _ object: SourceObject, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        if range.isEmpty { return }
        if range.count > Self.heldSize || !isSilent.load(ordering: .relaxed) {
            let receiver = BlobReceiver(
                object.blob, range, sink, call, address: address, object: object)
            do throws(StoreError) { return try fetch(object, receiver, call) } catch {
                guard receiver.isUntold else { throw error }
                isSilent.store(true, ordering: .relaxed)
            }
        }
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(start + Int64(Self.heldSize), range.upperBound)
            let bytes = try checked(object, start..<end, call)
            try bytes.withUnsafeBufferPointer { (bytes) throws(StoreError) in
                try sink.write(UnsafeRawBufferPointer(bytes), at: start)
            }
            start = end
            call.progress?(end - range.lowerBound)
        }
    }

    /// A part of a content from a server whose answers may not say which version they are of, as lighttpd's for
    /// files of no known type. The server is asked for the version then, when the bytes have come: it had the
    /// one that was listed before, and has it now.
    private func checked(_ object: SourceObject, _ range: Range<Int64>, _ call: StoreCall)
        throws(StoreError) -> [UInt8]
    {
        let held = HeldBytes()
        // Whoever follows the call is told of what is passed on.
        let quiet = StoreCall(cancellation: call.cancellation, urgency: call.urgency)
        let receiver = BlobReceiver(
            object.blob, range, held, quiet, address: address, object: object,
            isCheckedAfter: true)
        try fetch(object, receiver, call)
        if receiver.isUntold { try requireVersion(of: object, call) }
        return held.bytes
    }

    private final class HeldBytes: BlobSink {
        private(set) var bytes: [UInt8] = []

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
            self.bytes.append(contentsOf: bytes)
        }
    }

    private func fetch(_ object: SourceObject, _ receiver: BlobReceiver, _ call: StoreCall)
        throws(StoreError)
    {
        var request = HTTPRequest("GET", transport.url(absolute(object.path)))
        if let field = receiver.rangeField { request.headers = [("Range", field)] }
        let answer = try transport.send(request, receiver: receiver, call)
        switch answer.head.status {
        case 200, 206: try transport.answers.requireAll(receiver)
        case 404, 410: throw object.gone(address)
        // Shorter than the range.
        case 416: throw object.changed(address)
        default: throw transport.answers.error(answer, "getting \(object.name)")
        }
    }

    /// Throws unless the server has the object in the version that was listed.
    private func requireVersion(of object: SourceObject, _ call: StoreCall) throws(StoreError) {
        var request = HTTPRequest.propfind(
            transport.url(absolute(object.path)), depth: "0", Self.versionProperties)
        request.bodyLimit = 1 << 20
        let answer = try transport.send(request, call)
        switch answer.head.status {
        case 207: break
        case 200..<300: throw object.untold(address)
        case 404, 410: throw object.gone(address)
        default: throw transport.answers.error(answer, "asking for the version of \(object.name)")
        }
        let responses =
            answer.isCut ? nil : XMLDocument.root(of: answer.body)?.all("response")
        guard let found = responses?.first?.foundProperties, responses?.count == 1 else {
            throw object.untold(address)
        }
        let etag = found.text("getetag")
        let tag = SourceTag.of(etag: etag, modified: found.text("getlastmodified"))
        guard tag.first == object.tag.first, tag.count > 1 else { throw object.untold(address) }
        guard tag == object.tag else { throw object.changed(address) }
    }
}
