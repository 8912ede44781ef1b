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
        let words = words ?? (status == 413 ? "it takes nothing so large" : nil)
        let reason = words.map { ": " + Self.tame($0) } ?? ""
        let refusal = [401, 403].contains(status) ? credentials.explanation(of: status) : nil
        let cause = (why ?? refusal).map { "; " + $0 } ?? ""
        return StoreError(
            kind, at: address, "\(doing): the server answers \(status)\(reason)\(cause)",
            retryAfter: retryAfter)
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
