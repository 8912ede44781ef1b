/// What an application may do with a document that was granted to it.
package enum GrantedAccess: UInt8, Sendable, CaseIterable {
    case read = 1
    /// Reading, too.
    case write = 2

    /// As attributes and listings have it: `read`, `write`.
    package var text: String {
        switch self {
        case .read: "read"
        case .write: "write"
        }
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = found
    }
}

/// What is granted, and until when.
package struct GrantTerms: Hashable, Sendable {
    package var access: GrantedAccess
    /// From this moment on it holds no more; `nil`: until it is revoked.
    package var until: Timestamp?

    package init(access: GrantedAccess, until: Timestamp?) {
        self.access = access
        self.until = until
    }

    /// As an attribute has it: `read`, or `write until 1795348800` (seconds since 1970).
    package var text: String {
        access.text + (until.map { " until \($0.seconds)" } ?? "")
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let access = GrantedAccess(words[0]) else { return nil }
        switch words.count {
        case 1: self.init(access: access, until: nil)
        case 3:
            guard words[1] == "until", let seconds = Int64(words[2]), seconds >= 0 else {
                return nil
            }
            self.init(access: access, until: Timestamp(seconds: seconds, nanoseconds: 0))
        default: return nil
        }
    }
}

/// Leave for one application to use one document, whatever the document is called.
package struct GrantRow: Hashable, Sendable {
    package var document: DocumentID
    /// The name of the application's container.
    package var application: String
    package var terms: GrantTerms
    /// When it was granted first; other terms change nothing about that.
    package var granted: Timestamp

    package init(
        document: DocumentID, application: String, terms: GrantTerms, granted: Timestamp
    ) {
        self.document = document
        self.application = application
        self.terms = terms
        self.granted = granted
    }

    /// Whether it holds at this moment.
    package func isLive(at now: Timestamp) -> Bool { terms.until.map { now < $0 } ?? true }
}
