internal import SystemCalls

/// What an HTTP status means for a store.
struct Answers {
    /// The store's address.
    let address: String
    /// What the server is shown.
    let credentials: CredentialSource

    /// The error for an answer that was not what was hoped for.
    ///
    /// - Parameters:
    ///   - words: what the server says of it, if it says something.
    ///   - why: what a refusal is put down to; `nil`: to the credentials.
    func error(_ answer: HTTPAnswer, _ doing: String, words: String? = nil, why: String? = nil)
        -> StoreError
    {
        error(
            answer.head.status, doing, words: words, why: why,
            retryAfter: answer.head.retryAfter(now: WallClock.now.seconds))
    }

    /// The same for a status alone.
    func error(
        _ status: Int, _ doing: String, words: String? = nil, why: String? = nil,
        retryAfter: Double? = nil
    ) -> StoreError {
        let kind: StoreError.Kind =
            switch status {
            case 404, 410: .absent
            case 401, 403, 407: .denied
            case 416: .corrupt
            case 507: .full
            default: .refused(status: status)
            }
        let words = words ?? Self.meaning(of: status)
        let reason = words.map { ": " + Self.tame($0) } ?? ""
        let refusal = [401, 403].contains(status) ? credentials.explanation(of: status) : nil
        let cause = (why ?? refusal).map { "; " + $0 } ?? ""
        return StoreError(
            kind, at: address, "\(doing): the server answers \(status)\(reason)\(cause)",
            retryAfter: retryAfter)
    }

    /// What a server that says no more than a status means, where that is not said otherwise.
    private static func meaning(of status: Int) -> String? {
        switch status {
        case 404, 410: "it has nothing there"
        case 413: "it takes nothing so large"
        case 429: "it is asked too often"
        case 502, 504: "what is behind it does not answer"
        case 503: "it is busy or out of service"
        case 507: "it has no room left"
        case 500..<600: "something is wrong there"
        default: nil
        }
    }

    /// A server's words made fit for one line of a log.
    static func tame(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(200).map {
                    $0.properties.generalCategory == .control ? " " : $0
                }
            ))
    }

    /// Throws unless all of the range has come.
    func requireAll(_ receiver: BlobReceiver) throws(StoreError) {
        guard !receiver.isComplete else { return }
        if let problem = receiver.problemIfShort { throw problem }
        throw StoreError(
            .unreachable, at: address,
            "the answer ended before all of \(receiver.name) had come")
    }
}
