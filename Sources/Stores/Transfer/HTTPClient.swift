internal import CCurl
internal import CCurlShim
internal import COnDemand
internal import Glibc
internal import PathText
internal import SystemCalls

/// Whose certificates are believed.
struct TrustedAuthorities: Sendable {
    /// A file of certificates (PEM); `nil` for the system's.
    let file: String?

    /// - Parameter file: from the store's address; without one $SSL_CERT_FILE counts.
    init(file: String?) {
        self.file = file ?? getenv("SSL_CERT_FILE").map { String(cPath: $0) }
    }
}

/// Sends requests over connections that are kept alive. Proxies are taken from the environment
/// (`http_proxy`, `https_proxy`, `no_proxy`). Redirects are given back, not followed. Any thread; each
/// request has a connection of its own.
final class HTTPClient: Sendable {
    /// Connections kept for later.
    private static let idleLimit = 16

    private let address: String
    private let timeouts: Timeouts
    private let trust: TrustedAuthorities
    private let idle = Lock<[Connection]>([])

    /// - Parameter address: of the store, for messages.
    init(address: String, timeouts: Timeouts, trust: TrustedAuthorities) {
        self.address = address
        self.timeouts = timeouts
        self.trust = trust
    }

    /// One that is at rest, or a new one.
    private func connection() throws(StoreError) -> Connection {
        if let idle = idle.withLock({ $0.popLast() }) { return idle }
        if let problem = ondemand_load(ONDEMAND_TRANSFER) {
            throw StoreError(.unreachable, at: address, String(cString: problem))
        }
        return Connection(trust)
    }

    /// Sends `request` and receives its answer, whatever its status. Where `receiver`
    /// accepts its head the body goes there.
    func send(
        _ request: HTTPRequest, receiver: (any BodyReceiver)? = nil, _ call: StoreCall
    ) throws(StoreError) -> HTTPAnswer {
        try call.cancellation.check(at: address)
        let connection = try connection()
        // Runs last: the handle is at rest by then.
        defer {
            connection.noteTransfer()
            if !connection.isWorn {
                idle.withLock { if $0.count < Self.idleLimit { $0.append(connection) } }
            }
        }
        let exchange = Exchange(request, receiver: receiver, address: address, call: call)
        let lines = connection.configure(request, exchange, timeouts)
        defer { curl_slist_free_all(lines) }

        curl_multi_add_handle(connection.multi, connection.easy)
        defer { curl_multi_remove_handle(connection.multi, connection.easy) }
        let code = try transfer(connection, exchange, call)
        if let problem = exchange.problem { throw problem }
        guard code == CURLE_OK || exchange.hasEnough else {
            throw StoreError(kind(of: code), at: address, connection.reason(code))
        }
        try exchange.finish()
        let wanted = curlshim_get_long(connection.easy, CURLINFO_HTTPAUTH_AVAIL)
        return HTTPAnswer(
            head: exchange.head, body: exchange.collected, isCut: exchange.isCut,
            wantedScheme: wanted & 2 != 0 ? .digest : wanted & 1 != 0 ? .basic : nil)
    }

    /// Runs the transfer to its end; curl's verdict.
    private func transfer(_ connection: Connection, _ exchange: Exchange, _ call: StoreCall)
        throws(StoreError) -> CURLcode
    {
        var watch = Watch(timeouts, at: address)
        while true {
            var running: Int32 = 0
            guard curl_multi_perform(connection.multi, &running) == CURLM_OK else {
                return CURLE_FAILED_INIT
            }
            var left: Int32 = 0
            while let message = curl_multi_info_read(connection.multi, &left) {
                if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
            }
            try call.cancellation.check(at: address)
            try watch.look(
                exchange,
                uploaded: curlshim_get_offset(connection.easy, CURLINFO_SIZE_UPLOAD_T),
                arrived: curlshim_get_acknowledged(connection.easy))
            curl_multi_poll(connection.multi, nil, 0, Int32(Cancellation.interval), nil)
        }
    }

    private func kind(of code: CURLcode) -> StoreError.Kind {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
            CURLE_WEIRD_SERVER_REPLY, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR,
            CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_UNSUPPORTED_PROTOCOL,
            CURLE_SSL_CONNECT_ERROR, CURLE_PROXY:
            .unreachable
        default: .refused(status: 0)
        }
    }
}

/// Finds out when a transfer takes too long.
private struct Watch {
    private let timeouts: Timeouts
    private let address: String
    private let start = MonotonicClock.now
    private var moved: Int64 = 0
    private var movedAt: UInt64 = 0
    private var sent: Int64 = 0
    private var arrived: Int64 = 0
    private var sentAt: UInt64 = 0

    init(_ timeouts: Timeouts, at address: String) {
        self.timeouts = timeouts
        self.address = address
    }

    /// To be called again and again; throws `timedOut`.
    ///
    /// - Parameters:
    ///   - uploaded: bytes of the request's body that the system has taken.
    ///   - arrived: bytes that the connection has brought to the other side so far.
    mutating func look(_ exchange: Exchange, uploaded: Int64, arrived: Int64) throws(StoreError) {
        let spent = MonotonicClock.now - start
        let now = spent - min(spent, exchange.spentOutside)
        if uploaded + exchange.received != moved {
            moved = uploaded + exchange.received
            movedAt = now
        }
        if uploaded != sent || arrived != self.arrived {
            (sent, self.arrived) = (uploaded, arrived)
            (sentAt, movedAt) = (now, now)
        }
        let reading = exchange.isHeadWhole ? 0 : timeouts.reading(uploaded)
        if !exchange.isHeadWhole {
            try bound(now - sentAt, timeouts.answer + reading, "no whole answer")
        }
        try bound(now - movedAt, timeouts.stall + reading, "nothing has moved")
        // However it drips, it must get somewhere.
        let allowed = timeouts.answer * 2 + Double(moved) / timeouts.slowest
        if Double(now) / 1e9 > allowed {
            throw StoreError(
                .timedOut, at: address,
                "only \(Count.words(moved, "byte")) in \(Count.words(Int(Double(now) / 1e9), "second"))"
            )
        }
    }

    private func bound(_ nanoseconds: UInt64, _ seconds: Double, _ what: String)
        throws(StoreError)
    {
        guard Double(nanoseconds) / 1e9 > seconds else { return }
        throw StoreError(
            .timedOut, at: address,
            "\(what) for \(Count.words(Int(seconds.rounded(.up)), "second"))")
    }
}
