internal import SystemCalls

/// Sends requests to a WebDAV server: logs in (Basic or Digest, whichever the server wants), follows
/// redirects that stay with the server, takes new credentials once when the old ones are rejected. Any
/// thread.
final class WebDAVTransport: Sendable {
    /// Times a request is sent again for one of those reasons.
    private static let roundLimit = 5

    private struct State {
        var scheme = LoginScheme.unknown
        /// Where listings are sent on to in place of ``root``, or that itself; `nil` before it is known.
        var place: [UInt8]?
    }

    let origin: Origin
    /// The path of the store or tree, decoded.
    let root: [UInt8]
    let answers: Answers
    private let client: HTTPClient
    private let source: CredentialSource
    private let state = Lock(State())

    init(_ address: WebDAVAddress, _ source: CredentialSource, _ timeouts: Timeouts) {
        origin = address.origin
        root = Array(address.path.utf8)
        self.source = source
        answers = Answers(address: address.description, credentials: source)
        client = HTTPClient(
            address: address.description, timeouts: timeouts,
            trust: TrustedAuthorities(file: address.options.authoritiesFile))
    }

    /// The URL of a decoded path.
    func url(_ path: String) -> String { url(path.utf8) }

    /// The same of one that need not be text.
    func url(_ path: some Sequence<UInt8>) -> String {
        origin.text + PercentEncoding.encode(path, keepingSlashes: true)
    }

    func send(_ request: HTTPRequest, receiver: (any BodyReceiver)? = nil, _ call: StoreCall)
        throws(StoreError) -> HTTPAnswer
    {
        var request = request
        var isRefreshed = false
        for _ in 0..<Self.roundLimit {
            let credentials = try source.current(call)
            let scheme = state.withLock { $0.scheme }
            request.login = credentials.map { Login(credentials: $0, scheme: scheme) }
            let answer = try client.send(request, receiver: receiver, call)
            if let wanted = answer.wantedScheme { state.withLock { $0.scheme = wanted } }
            switch answer.head.status {
            case 301, 302, 307, 308:
                request.url = try target(of: answer, from: request.url)
                receiver?.noteRedirect(to: request.url)
            case 401:
                // A scheme that was guessed from an earlier answer, or a nonce that has run out.
                if let wanted = answer.wantedScheme, wanted != scheme, scheme != .unknown {
                    continue
                }
                guard !isRefreshed else { return answer }
                isRefreshed = true
                guard try source.refresh(rejecting: credentials, call) else { return answer }
            case 403:
                // What is forbidden, or a token that has run out, which some servers answer so.
                guard !isRefreshed, credentials != nil else { return answer }
                isRefreshed = true
                guard try source.refresh(rejecting: credentials, isDoubtful: true, call) else {
                    return answer
                }
            default: return answer
            }
        }
        throw StoreError(
            .refused(status: 0), at: answers.address,
            "the server sends requests round in circles")
    }

    /// Whether the tree as a whole is elsewhere, and what is at `path` in it is at `place` for that. If nothing
    /// is known of it yet, that is noted.
    func isMoved(_ path: [UInt8], to place: [UInt8]) -> Bool {
        let inside = path.dropFirst(root.count)
        guard place.suffix(inside.count) == inside else { return false }
        let above = Array(place.dropLast(inside.count))
        return state.withLock { state in
            if inside.isEmpty || state.place == nil { state.place = above }
            return state.place == above
        }
    }

    /// Where a redirect leads. Only to the same server: the password must not go to another.
    private func target(of answer: HTTPAnswer, from url: String) throws(StoreError) -> String {
        let location = answer.head.field("location") ?? ""
        if let target = origin.target(of: location, from: url) { return target }
        throw answers.error(
            answer, "the collection is elsewhere",
            words: location.isEmpty ? nil : String(location.prefix { $0 != "?" }))
    }
}
