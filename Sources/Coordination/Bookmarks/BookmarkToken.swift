package import Model
internal import SystemCalls

/// What a program keeps of a bookmark: text that nobody else can make.
///
/// 128 lower-case hexadecimal digits: the bookmark's id, the document's, eight bytes of the SHA-256 of
/// the path, and the HMAC-SHA-256 of those 64 digits.
package struct BookmarkToken: Hashable, Sendable {
    package let id: BookmarkID
    package let document: DocumentID
    private let place: UInt64
    private let signature: String

    /// Comes before the digits in what is signed, so that no other use of the key gives the same.
    private static let purpose = "shapeedit bookmark 1\n"

    /// A token of the bookmark, whose document has this path in the container now.
    init(_ row: BookmarkRow, path: [UInt8], key: [UInt8]) {
        id = row.id
        document = row.document
        place = Self.digest(path)
        signature = Self.sign(Self.body(row.id, row.document, place), key)
    }

    /// Reads what ``text`` wrote, whoever signed it; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 128,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        let bytes = Array(text.utf8)
        let words = (0..<4).compactMap { index in
            UInt64(
                String(decoding: bytes[index * 16..<(index + 1) * 16], as: UTF8.self), radix: 16)
        }
        guard words.count == 4 else { return nil }
        id = BookmarkID(high: words[0], low: words[1])
        document = DocumentID(rawValue: words[2])
        place = words[3]
        signature = String(decoding: bytes[64...], as: UTF8.self)
    }

    /// The digits.
    package var text: String { Self.body(id, document, place) + signature }

    /// Whether the document has had another path than this when the token was made.
    package func isStale(at path: [UInt8]) -> Bool { Self.digest(path) != place }

    /// Whether the token was made with this key.
    func isSigned(with key: [UInt8]) -> Bool {
        let right = Self.sign(Self.body(id, document, place), key)
        // Takes as long whatever is wrong.
        return zip(right.utf8, signature.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func body(_ id: BookmarkID, _ document: DocumentID, _ place: UInt64) -> String {
        [id.high, id.low, document.rawValue, place].map(hexadecimal).joined()
    }

    private static func sign(_ body: String, _ key: [UInt8]) -> String {
        digits(Hashing.authentication(key: key, Array((purpose + body).utf8)))
    }

    private static func digest(_ path: [UInt8]) -> UInt64 {
        let digest = (try? Hashing.sha256(path)) ?? []
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        ContentHash(bytes: bytes)?.description ?? ""
    }
}
