/// The identity of a bookmark: 128 random bits.
package struct BookmarkID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// One that nobody can guess.
    package static func random() -> BookmarkID {
        BookmarkID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

/// A way back to a document that outlives its names.
package struct BookmarkRow: Hashable, Sendable {
    package var id: BookmarkID
    package var document: DocumentID
    /// The application it is for; empty: for any.
    package var application: String
    package var created: Timestamp

    package init(id: BookmarkID, document: DocumentID, application: String, created: Timestamp) {
        self.id = id
        self.document = document
        self.application = application
        self.created = created
    }

    /// Whether a bookmark can be for an application of this name: as in `org.example.Editor`, at
    /// most 100 letters, digits, dots, dashes and underscores.
    package static func isApplication(_ name: some StringProtocol) -> Bool {
        (1...100).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
                default: false
                }
            }
    }
}
