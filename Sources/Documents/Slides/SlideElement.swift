/// An element of a slide: a JSON object, kept as it was read, and what it draws.
public struct SlideElement: Hashable, Sendable {
    /// The object with all its keys.
    public var json: JSONObject

    /// An element of an object.
    public init(_ json: JSONObject) { self.json = json }

    /// The path of the element at a place, counted from 0, of a slide or chain, as edits say it.
    static func path(at index: Int) -> String { "element.\(index + 1)" }

    /// The kind by its name in documents, such as `line`; nil if there is none.
    public var shapeType: String? { json["shapeType"]?.string }
    /// What the author noted about it.
    public var comment: String? { json["comment"]?.string }

    /// 0 clear to 1 opaque. As in the original, 0, a missing or an impossible value is opaque.
    public var opacity: Double {
        guard let value = json["opacity"]?.double, value > 0, value < 1 else { return 1 }
        return value
    }
}

/// A key of an element or slide that does not hold what it should.
public struct SlideProblem: Hashable, Sendable, CustomStringConvertible {
    /// Where it is, with the numbers that edits take: `element.4.strokeColor`.
    public var path: String
    /// What is wrong, and what would be right.
    public var reason: String

    /// A problem of its two parts.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    /// `path: reason`
    public var description: String { "\(path): \(reason)" }

    /// What is wrong with a value that should be a colour.
    static func noColor(_ value: JSONValue) -> String {
        "\(value.quoted) is not a colour; right would be #rrggbb, a CSS name or clear"
    }
}
