/// Something that is different afterwards.
public struct Change: Hashable, Sendable, CustomStringConvertible {
    /// What changed.
    public enum Subject: String, Hashable, Sendable {
        /// The value of a key.
        case value
        /// A part of the document (a solid, group, element or item) came or went.
        case part
        /// A part is in another place among the others, or in another group.
        case place
    }

    /// What changed.
    public var subject: Subject
    /// Where: a path as `EditableDocument.value(at:)` takes it. Parts that went have the path they
    /// had.
    public var path: String
    /// What was there; nil if nothing was.
    public var before: String?
    /// What is there; nil if nothing is.
    public var after: String?

    init(_ subject: Subject, _ path: String, before: String?, after: String?) {
        self.subject = subject
        self.path = path
        self.before = before
        self.after = after
    }

    /// The change in words, on one line.
    public var description: String {
        switch (subject, before, after) {
        case (.part, nil, let after?): "\(path): added \(after)"
        case (.part, let before?, nil): "\(path): removed \(before)"
        case (.place, let before?, let after?): "\(path): moved from \(before) to \(after)"
        case (_, let before?, let after?):
            "\(path): \(before) -> \(after)"
                + (before == after ? " (the same letters, otherwise composed)" : "")
        case (_, nil, let after?): "\(path): set to \(after)"
        case (_, let before?, nil): "\(path): unset, was \(before)"
        case (_, nil, nil): path
        }
    }
}
