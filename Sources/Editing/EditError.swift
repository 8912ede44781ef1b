/// Why an edit cannot be made: what kind of trouble, where, and what would be right.
public struct EditError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: String, Hashable, Sendable {
        /// The words are no edit, or none that this type of document has.
        case usage
        /// A value that its key cannot have, or that the document cannot hold.
        case data
        /// There is no such part, key or template.
        case notFound
        /// Several parts are meant where one is needed.
        case ambiguous
        /// A number beyond what is allowed.
        case outOfRange
    }

    /// What kind of trouble it is.
    public var kind: Kind
    /// The line of the script, counted from 1; nil outside of scripts.
    public var line: Int?
    /// The path, target or verb it is about; empty for the document as a whole.
    public var place: String
    /// What is wrong, and what would be right; one sentence without a full stop.
    public var reason: String

    /// An error of its parts.
    public init(_ kind: Kind, at place: String = "", line: Int? = nil, _ reason: String) {
        self.kind = kind
        self.line = line
        self.place = place
        self.reason = reason
    }

    /// `line 3: Ball.color: reason`, without the parts that are not known.
    public var description: String {
        let parts = [line.map { "line \($0)" } ?? "", place, reason]
        return parts.filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

extension EditError {
    /// The same error with a place, if it had none.
    func at(_ place: String) -> EditError {
        var error = self
        if error.place.isEmpty { error.place = place }
        return error
    }

    /// The same error with a line, if it had none.
    func at(line: Int?) -> EditError {
        var error = self
        error.line = error.line ?? line
        return error
    }
}
