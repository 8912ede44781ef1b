/// A page of a bucket's listing.
struct S3Page {
    /// What it tells of one object.
    struct Entry {
        let key: String
        /// `nil` if it is not told.
        let size: Int64?
        /// Empty if they are not told, as they are written.
        let etag: String
        let modified: String
    }

    /// In the order of their keys' bytes, which is not that of strings.
    let entries: [Entry]
    /// Keys that are no text, as the listing has them: nothing can be asked of such an object.
    let strange: [String]
    let isLast: Bool
    /// Where the listing goes on, as the server has it; what else tells is the last key.
    let token: String?

    /// `nil` if the document is none, has an object without a key, or does not say whether it is the last: what
    /// is missing from a listing is taken for removed.
    init?(_ root: XMLElement) {
        guard root.name == "ListBucketResult",
            let isTruncated = root.text("IsTruncated").flatMap({ Bool($0) })
        else { return nil }
        let isEncoded = root.text("EncodingType") == "url"
        var entries: [Entry] = []
        var strange: [String] = []
        for element in root.all("Contents") {
            guard let told = element.first("Key") else { return nil }
            let text = isEncoded ? Self.decoded(told.text) : told.blankedText ?? told.text
            guard let key = text else {
                strange.append(told.text)
                continue
            }
            entries.append(
                Entry(
                    key: key, size: element.text("Size").flatMap { Int64($0) },
                    etag: element.text("ETag") ?? "",
                    modified: element.text("LastModified") ?? ""))
        }
        self.entries = entries
        self.strange = strange
        isLast = !isTruncated
        token = root.text("NextContinuationToken")
    }

    /// Amazon's has a plus for a blank; whoever has not encodes both.
    private static func decoded(_ text: String) -> String? {
        PercentEncoding.decode(
            String(decoding: text.utf8.map { $0 == 0x2b ? 0x20 : $0 }, as: UTF8.self))
    }
}

extension S3Store {
    /// The objects below the prefix whose keys come after `last`. A page that is not the last holds at
    /// least one.
    func page(after last: String?, limit: Int = 1_000, _ call: StoreCall) throws(StoreError)
        -> S3Page
    {
        var token: String?
        // A server may look through so many keys for a page and find none that counts.
        for _ in 0..<Self.emptyPages {
            let page = try page(after: last, token, limit: limit, call)
            if page.isLast { return page }
            if let next = page.entries.last?.key {
                guard (last ?? "").utf8.lexicographicallyPrecedes(next.utf8) else { break }
                return page
            }
            guard let next = page.token, next != token else { break }
            token = next
        }
        throw StoreError(.corrupt, at: address, "the listing does not go on")
    }

    /// Pages in turn without an object, at most.
    private static let emptyPages = 1_000

    private func page(after last: String?, _ token: String?, limit: Int, _ call: StoreCall)
        throws(StoreError) -> S3Page
    {
        var request = S3Request(method: "GET")
        // Encoded, since a key can begin and end with blanks and hold characters that XML cannot.
        request.query = [
            ("encoding-type", "url"), ("list-type", "2"), ("max-keys", String(min(limit, 1_000))),
            ("prefix", prefix),
        ]
        if let token {
            request.query.append(("continuation-token", token))
        } else if let last {
            request.query.append(("start-after", last))
        }
        request.bodyLimit = 8 << 20
        let answer = try transport.send(request, call)
        guard answer.head.status == 200, S3Problem(answer) == nil else {
            throw error(answer, "listing")
        }
        guard !answer.isCut, let page = XMLDocument.root(of: answer.body).flatMap(S3Page.init)
        else { throw StoreError(.corrupt, at: address, "the listing cannot be understood") }
        return page
    }
}
