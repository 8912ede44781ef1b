internal import CCurl
internal import CCurlShim
internal import SystemCalls

/// One request and its answer while they go over the wire: what curl's callbacks work on. Used by one
/// thread.
final class Exchange {
    /// Bytes of an answer's head, over all interim answers.
    private static let headLimit = 256 * 1024

    private let body: HTTPRequest.Body
    private let bodyLimit: Int
    private let receiver: (any BodyReceiver)?
    private let address: String
    private let call: StoreCall

    private(set) var head = HTTPHead()
    private(set) var collected: [UInt8] = []
    private(set) var isCut = false
    /// Why a callback ended the transfer.
    private(set) var problem: StoreError?
    /// The rest of the answer is of no interest.
    private(set) var hasEnough = false
    private(set) var isHeadWhole = false
    /// Bytes that came.
    private(set) var received: Int64 = 0
    /// Nanoseconds spent in the caller's source and sink.
    private(set) var spentOutside: UInt64 = 0
    private var headBytes = 0
    private var sent: Int64 = 0
    private var goesToReceiver: Bool?

    init(_ request: HTTPRequest, receiver: (any BodyReceiver)?, address: String, call: StoreCall) {
        body = request.body
        bodyLimit = request.bodyLimit
        self.receiver = receiver
        self.address = address
        self.call = call
    }

    var bodySize: Int64? {
        switch body {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(_, let range): Int64(range.count)
        }
    }

    private func outside(_ work: () throws(StoreError) -> Void) -> Bool {
        let start = MonotonicClock.now
        defer { spentOutside += MonotonicClock.now - start }
        do throws(StoreError) { try work() } catch {
            problem = error
            return false
        }
        return true
    }

    // MARK: What curl calls

    /// One line of the head.
    func takeHeadLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += Int64(bytes.count)
        headBytes += bytes.count
        if headBytes > Self.headLimit {
            problem = StoreError(
                .refused(status: head.status), at: address,
                "the server's answer has a head without end")
            return false
        }
        if bytes.starts(with: "HTTP/".utf8) {
            head = HTTPHead()
            isHeadWhole = false
            goesToReceiver = nil
            let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0.isNewline }
            head.status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        } else if bytes.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
            isHeadWhole = head.status >= 200
        } else {
            head.add(bytes)
        }
        return true
    }

    /// Bytes of the answer's body.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += Int64(bytes.count)
        return outside { () throws(StoreError) in
            if let receiver, try isForReceiver() {
                try receiver.take(bytes)
                if receiver.hasEnough(head) { hasEnough = true }
                return
            }
            let room = bodyLimit - collected.count
            collected.append(contentsOf: bytes.prefix(room))
            if bytes.count > room {
                isCut = true
                hasEnough = true
            }
        } && !hasEnough
    }

    /// Whether the body is what the receiver waits for; decided once, when the head is whole.
    private func isForReceiver() throws(StoreError) -> Bool {
        if let goesToReceiver { return goesToReceiver }
        let accepted = try receiver?.accept(head) ?? false
        goesToReceiver = accepted
        return accepted
    }

    /// To be called when curl has finished well: the head of an answer without a body counts too.
    func finish() throws(StoreError) { _ = try isForReceiver() }

    /// Bytes for the request's body; `nil` to give up.
    func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var count = 0
        let isWell = outside { () throws(StoreError) in
            switch body {
            case .none: break
            case .bytes(let bytes):
                count = min(buffer.count, bytes.count - Int(sent))
                buffer.copyBytes(from: bytes[Int(sent)..<Int(sent) + count])
            case .stream(let source, let range):
                let wanted = Int(min(Int64(buffer.count), Int64(range.count) - sent))
                guard wanted > 0 else { break }
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
                count = try source.read(into: part, at: range.lowerBound + sent)
                call.progress?(range.lowerBound + sent + Int64(count))
            }
        }
        sent += Int64(count)
        return isWell ? count : nil
    }

    /// Goes to `offset` of the request's body, to send it again.
    func rewind(to offset: Int64) { sent = offset }
}
