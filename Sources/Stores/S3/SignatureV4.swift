internal import Model
internal import SystemCalls

/// Amazon's Signature Version 4, written by hand: that of libcurl 7.88 signs queries and removed
/// headers wrongly.
struct SignatureV4 {
    let credentials: Credentials
    let region: String
    var service = "s3"
    /// `20130524T000000Z`
    let moment: String

    private var day: String { String(moment.prefix(8)) }
    private var scope: String { "\(day)/\(region)/\(service)/aws4_request" }

    /// The value of `Authorization`.
    ///
    /// - Parameters:
    ///   - path: percent-encoded, as it is sent.
    ///   - query: names and values, not encoded, in any order.
    ///   - headers: all that are signed, names in lower case; `host` and `x-amz-date` among them.
    ///   - payloadHash: hexadecimal SHA-256 of the body.
    func authorization(
        method: String, path: String, query: [(String, String)], headers: [(String, String)],
        payloadHash: String
    ) -> String {
        let sorted = headers.sorted { $0.0 < $1.0 }
        let names = sorted.map(\.0).joined(separator: ";")
        let lines = sorted.map { "\($0.0):\($0.1)\n" }.joined()
        let request = [
            method, path, Self.canonical(query), lines, names, payloadHash,
        ].joined(separator: "\n")
        let digest = Hexadecimal.text(RunningDigest.of(Array(request.utf8)))
        let text = ["AWS4-HMAC-SHA256", moment, scope, digest].joined(separator: "\n")
        let signature = Hexadecimal.text(Hashing.authentication(key: key, Array(text.utf8)))
        return "AWS4-HMAC-SHA256 Credential=\(credentials.identity)/\(scope),"
            + "SignedHeaders=\(names),Signature=\(signature)"
    }

    /// A query as it is signed, and as it is to be sent.
    static func canonical(_ query: [(String, String)]) -> String {
        query.map { (PercentEncoding.encode($0.0), PercentEncoding.encode($0.1)) }
            .sorted { $0 < $1 }
            .map { $0.0 + "=" + $0.1 }.joined(separator: "&")
    }

    private var key: [UInt8] {
        var key = Array(("AWS4" + credentials.secret).utf8)
        for part in [day, region, service, "aws4_request"] {
            key = Hashing.authentication(key: key, Array(part.utf8))
        }
        return key
    }
}
