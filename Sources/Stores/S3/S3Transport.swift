internal import Glibc
internal import SystemCalls

/// A request to S3 before it is signed.
struct S3Request {
    var method: String
    /// Of an object, not encoded; `nil` for the bucket.
    var key: String?
    var query: [(String, String)] = []
    /// Names in lower case; signed.
    var headers: [(String, String)] = []
    var body: HTTPRequest.Body = .none
    /// Hexadecimal SHA-256 of the body.
    var payloadHash = emptyHash
    var bodyLimit = 64 * 1024

    static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
}

/// Signs requests and sends them: finds the bucket's region, follows it when it is elsewhere, corrects a
/// clock that is wrong, takes new credentials when the old ones have run out. Any thread.
final class S3Transport: Sendable {
    /// Times a request is sent again for one of those reasons.
    private static let roundLimit = 5
    /// Seconds by which clocks may differ before a refusal is put down to that; S3 allows 900.
    private static let tolerance: Int64 = 240

    private struct State {
        var region: String
        /// Set by a redirect.
        var place: Place?
        /// Seconds that the server's clock is ahead.
        var skew: Int64 = 0
    }

    /// Where requests go.
    private struct Place: Equatable {
        var host: String
        /// Whether the bucket is in the host's name or in the path.
        var style: S3Address.Style
    }

    private let bucket: String
    private let style: S3Address.Style
    private let endpoint: Origin?
    private let client: HTTPClient
    private let source: CredentialSource
    private let state: Lock<State>
    let answers: Answers

    init(_ address: S3Address, _ source: CredentialSource, _ timeouts: Timeouts) {
        bucket = address.bucket
        style = address.style
        endpoint = address.endpoint
        self.source = source
        answers = Answers(address: address.description, credentials: source)
        client = HTTPClient(
            address: address.description, timeouts: timeouts,
            trust: TrustedAuthorities(file: address.options.authoritiesFile))
        let region =
            address.region
            ?? ["AWS_REGION", "AWS_DEFAULT_REGION"].compactMap { (name: String) in
                getenv(name).map { String(cString: $0) }
            }.first { !$0.isEmpty }
        state = Lock(State(region: region ?? "us-east-1"))
    }

    var region: String { state.withLock { $0.region } }

    func send(_ request: S3Request, receiver: BlobReceiver? = nil, _ call: StoreCall)
        throws(StoreError) -> HTTPAnswer
    {
        var isRefreshed = false
        for _ in 0..<Self.roundLimit {
            guard let credentials = try source.current(call) else {
                throw StoreError(.denied, at: answers.address, source.absence)
            }
            let state = state.withLock { $0 }
            let signed = sign(request, credentials, state)
            var answer: HTTPAnswer
            do throws(StoreError) {
                answer = try client.send(signed, receiver: receiver, call)
                if request.method == "HEAD", [400, 403].contains(answer.head.status) {
                    answer = try refusal(of: request, credentials, state, call) ?? answer
                }
            } catch {
                if error.isTransient { forgetPlace(state) }
                throw error
            }
            switch answer.head.status {
            case 301, 302, 307, 308:
                try follow(answer, to: request.key, state)
            case 500...599 where state.place != nil:
                forgetPlace(state)
                return answer
            case 400, 401, 403:
                if adjustRegion(answer, state) || adjustClock(answer, state) { continue }
                // New credentials once: a command that prints others each time is not asked again.
                let told = isAboutCredentials(answer)
                guard !isRefreshed, told || answer.head.status != 400 || request.method == "HEAD"
                else { return answer }
                isRefreshed = true
                guard try source.refresh(rejecting: credentials, isDoubtful: !told, call) else {
                    return answer
                }
            default: return answer
            }
        }
        throw StoreError(
            .refused(status: 0), at: answers.address,
            "the server sends requests round in circles")
    }

    /// Asks for the reason why a HEAD was refused, as the answer to that has no words: what GET is answered, if
    /// it is answered, and refused, too.
    private func refusal(
        of request: S3Request, _ credentials: Credentials, _ state: State, _ call: StoreCall
    ) throws(StoreError) -> HTTPAnswer? {
        var asking = request
        asking.method = "GET"
        // As little as can be asked for, should it be allowed.
        if request.key == nil {
            asking.query = [("list-type", "2"), ("max-keys", "1")]
        } else {
            asking.headers.append(("range", "bytes=0-0"))
        }
        let answer: HTTPAnswer
        do throws(StoreError) {
            answer = try client.send(sign(asking, credentials, state), call)
        } catch {
            guard error.isTransient else { throw error }
            return nil
        }
        return [400, 401, 403].contains(answer.head.status) && S3Problem(answer) != nil
            ? answer : nil
    }

    // MARK: Signing

    private func sign(_ request: S3Request, _ credentials: Credentials, _ state: State)
        -> HTTPRequest
    {
        let origin =
            endpoint ?? Origin(isSecure: true, host: "s3.\(state.region).amazonaws.com", port: nil)
        let place =
            state.place
            ?? Place(host: (style == .virtual ? bucket + "." : "") + origin.authority, style: style)
        let host = place.host
        let encoded = path(request.key, place.style)
        let moment = Self.moment(WallClock.now.seconds + state.skew)
        var headers = request.headers
        headers += [
            ("x-amz-content-sha256", request.payloadHash), ("x-amz-date", moment),
        ]
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
        let signature = SignatureV4(credentials: credentials, region: state.region, moment: moment)
        let authorization = signature.authorization(
            method: request.method, path: encoded, query: request.query,
            headers: headers + [("host", host)], payloadHash: request.payloadHash)
        let query = request.query.isEmpty ? "" : "?" + SignatureV4.canonical(request.query)
        let scheme = origin.isSecure ? "https://" : "http://"
        var signed = HTTPRequest(request.method, scheme + host + encoded + query)
        signed.headers = headers.map { (name: $0.0, value: $0.1) }
        signed.headers.append((name: "authorization", value: authorization))
        signed.body = request.body
        signed.bodyLimit = request.bodyLimit
        return signed
    }

    /// The path of an object, or of the bucket, encoded.
    private func path(_ key: String?, _ style: S3Address.Style) -> String {
        let path =
            switch style {
            case .path: "/" + bucket + (key.map { "/" + $0 } ?? "")
            case .virtual: "/" + (key ?? "")
            }
        return PercentEncoding.encode(path, keepingSlashes: true)
    }

    /// `20130524T000000Z`
    private static func moment(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func padded(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let day = "\(parts.tm_year + 1900)\(padded(parts.tm_mon + 1))\(padded(parts.tm_mday))"
        return "\(day)T\(padded(parts.tm_hour))\(padded(parts.tm_min))\(padded(parts.tm_sec))Z"
    }

    /// Whether the server says that it is the credentials that it refuses, and not what was asked for. Amazon
    /// says with 400 that they have run out, others with 403; the answer to HEAD has no body that would tell, and
    /// not every server tells it to ``refusal(of:_:_:_:)``.
    private func isAboutCredentials(_ answer: HTTPAnswer) -> Bool {
        answer.head.status == 401
            || [
                "ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken",
                "SignatureDoesNotMatch", "TokenRefreshRequired",
            ].contains(S3Problem(answer)?.code)
    }

    // MARK: Being sent elsewhere

    /// Takes note of where the bucket is. The signature changes with it; the secret never goes along.
    ///
    /// - Parameter key: of the object that was asked for; `nil` for the bucket.
    private func follow(_ answer: HTTPAnswer, to key: String?, _ before: State) throws(StoreError) {
        if adjustRegion(answer, before) { return }
        let isSecure = endpoint?.isSecure ?? true
        let place = answer.head.field("location")?.afterScheme(isSecure ? "https://" : "http://")
        let host = (place ?? "").prefix { $0 != "/" && $0 != "?" }
        guard let place, let origin = try? Origin(isSecure: isSecure, parsing: host) else {
            throw answers.error(
                answer, "the bucket is elsewhere", words: "no place that can be used")
        }
        let path = place[host.endIndex...].prefix { $0 != "?" }
        let style = self.style(host: origin.host, path: path, to: key, before.place?.style ?? style)
        state.withLock { $0.place = Place(host: origin.authority, style: style) }
    }

    /// In which style a redirect names the bucket: its path tells, and its host where that does not.
    private func style(
        host: String, path: Substring, to key: String?, _ before: S3Address.Style
    ) -> S3Address.Style {
        let whole = self.path(key, .path)
        if path == whole || key == nil && path == whole + "/" { return .path }
        if key != nil, path == self.path(key, .virtual) { return .virtual }
        return host.hasPrefix(bucket + ".") ? .virtual : before
    }

    /// Asks at the endpoint again next time: where a redirect led may be out of order, or gone for good.
    private func forgetPlace(_ before: State) {
        state.withLock { if $0.place == before.place { $0.place = nil } }
    }

    /// Whether the answer named another region, which is used from now on.
    private func adjustRegion(_ answer: HTTPAnswer, _ before: State) -> Bool {
        let named = answer.head.field("x-amz-bucket-region") ?? S3Problem(answer)?.region
        guard let region = named, region != before.region, !region.isEmpty,
            region.utf8.allSatisfy({ (0x61...0x7a).contains($0) || (0x2d...0x39).contains($0) })
        else { return false }
        state.withLock { $0.region = region }
        return true
    }

    /// Whether the refusal may come from a wrong clock, which is corrected from now on.
    private func adjustClock(_ answer: HTTPAnswer, _ before: State) -> Bool {
        let told = answer.head.field("date").flatMap(HTTPDate.seconds) ?? S3Problem(answer)?.time
        guard answer.head.status == 403, let seconds = told else { return false }
        let skew = seconds - WallClock.now.seconds
        guard abs(skew - before.skew) > Self.tolerance else { return false }
        state.withLock { $0.skew = skew }
        return true
    }
}

/// The body of an S3 refusal.
struct S3Problem {
    let code: String
    let message: String
    let region: String?
    /// The server's time, in seconds since 1970, where it says that the request's is too far from it.
    let time: Int64?

    init?(_ answer: HTTPAnswer) {
        guard let root = XMLDocument.root(of: answer.body), root.name == "Error" else { return nil }
        code = root.text("Code") ?? ""
        message = root.text("Message") ?? ""
        region = root.text("Region")
        time = root.text("ServerTime").flatMap(ISODate.seconds)
    }
}
