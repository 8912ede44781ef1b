package import Model

/// The name of something small that was made of a blob and can be made again: a picture of it. Stands
/// beside the blobs, in `pictures/ab/`, and is not among those that are listed.
package struct Companion: Hashable, Sendable {
    /// The blob's.
    package let hash: ContentHash
    /// What was made of it, and how: 1 to 64 ASCII letters, digits, dots and hyphens.
    package let kind: String

    /// nil for a kind that cannot be part of a name.
    package init?(_ hash: ContentHash, kind: String) {
        let isPlain = kind.utf8.allSatisfy { byte in
            byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        guard isPlain, (1...64).contains(kind.utf8.count) else { return nil }
        self.hash = hash
        self.kind = kind
    }

    static let folder = "pictures"
    /// Below the store's own place.
    var path: String { "\(Self.folder)/\(hash.fanOut)/\(fileName)" }
    var fileName: String { "\(hash)-\(kind)" }

    /// The largest there may be, in bytes.
    package static let limit = 8 << 20
}
