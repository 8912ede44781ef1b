/// A `response` of a PROPFIND.
extension XMLElement {
    /// What it tells of, seen from the collection at a path.
    enum Subject: Equatable {
        case itself
        /// Something directly in it.
        case member(name: [UInt8])
        case other
        /// No path from the root on, which WebDAV asks for: it may be any of the others.
        case unclear
    }

    /// What it tells of, seen from the collection at `path` (decoded): of several things where they have one
    /// status. Compared as bytes: names need not be text, and different ones may look the same.
    ///
    /// - Parameter isThere: whether something is at a path; asked of such directly in the collection. A question
    ///   mark begins what is no part of the path, but there are servers that leave those in names as they are.
    func subjects(
        from path: [UInt8], isThere: ([UInt8]) throws(StoreError) -> Bool
    ) throws(StoreError) -> [Subject] {
        var subjects: [Subject] = []
        for href in all("href").map(\.text) {
            guard let place = href.urlPath else {
                subjects.append(.unclear)
                continue
            }
            if place.utf8.contains(0x3f) {
                let whole = Self.parts(of: place)
                let subject = Self.subject(whole, from: path)
                if case .member = subject, try isThere(Self.path(of: whole)) {
                    subjects.append(subject)
                    continue
                }
            }
            subjects.append(Self.subject(Self.parts(of: place.withoutQuery), from: path))
        }
        return subjects
    }

    private static func subject(_ parts: [[UInt8]], from path: [UInt8]) -> Subject {
        var parts = parts
        if Self.path(of: parts) == path { return .itself }
        guard let name = parts.popLast(), Self.path(of: parts) == path else { return .other }
        return .member(name: name)
    }

    /// The decoded path of a URL without a query; `nil` if it has none.
    static func path(of url: String) -> [UInt8]? {
        url.urlPath.map { path(of: parts(of: $0.withoutQuery)) }
    }

    private static func parts(of place: Substring) -> [[UInt8]] {
        // As bytes: a mark may stand at a name's start, and as characters it would be one with the slash.
        var parts: [[UInt8]] = []
        for part in place.utf8.split(separator: 0x2f) {
            switch Substring(part) {
            case ".": continue
            case "..": _ = parts.popLast()
            default:
                parts.append(PercentEncoding.decodedBytes(part) ?? Self.name(badlyEncoded: part))
            }
        }
        return parts
    }

    /// A name with a percent sign that begins no escape. A server that leaves even blanks as they are encodes
    /// nothing; else only such a sign stands for itself.
    private static func name(badlyEncoded part: Substring.UTF8View) -> [UInt8] {
        part.contains(0x20) ? Array(part) : PercentEncoding.decodedLoosely(part)
    }

    private static func path(of parts: [[UInt8]]) -> [UInt8] { parts.flatMap { [0x2f] + $0 } }

    /// The properties that the server has.
    var foundProperties: FoundProperties {
        FoundProperties(
            all: all("propstat").filter { ($0.statusCode ?? statusCode) == 200 }
                .flatMap { $0.first("prop")?.children ?? [] })
    }

    /// Whether what kind of thing it is may be told without saying if that was found: an empty
    /// `resourcetype` is that of a file, or one that nobody knows.
    var isUnclear: Bool {
        statusCode == nil && foundProperties.element("resourcetype") == nil
            && all("propstat").contains { $0.statusCode == nil }
    }

    /// The status that the server has in place of what kind of thing it is, for one that is closed to us or
    /// that it cannot look at now; `nil` if it is told, or there is no such thing.
    var refusal: Int? {
        let propstats = all("propstat")
        let told =
            propstats.first { $0.first("prop")?.first("resourcetype") != nil }
            ?? propstats.first { $0.statusCode == 200 } ?? propstats.first
        guard let code = statusCode ?? told?.statusCode, ![200, 404, 410].contains(code) else {
            return nil
        }
        return code
    }

    /// The number in its `status`.
    private var statusCode: Int? {
        (text("status") ?? "").split(separator: " ").lazy.compactMap { Int($0) }.first
    }
}

/// What a `response` tells of one thing. Servers may add properties of their own, some of them with the
/// names of others: the namespace tells them apart.
struct FoundProperties {
    /// In the order in which they came.
    let all: [XMLElement]

    static let webDAV = "DAV:"
    static let ownCloud = "http://owncloud.org/ns"

    /// The property of this name; `nil` if it was not told.
    func element(_ name: String, in namespace: String = webDAV) -> XMLElement? {
        all.first { $0.name == name && $0.namespace == namespace }
    }

    /// Its text; empty if it was not told.
    func text(_ name: String, in namespace: String = webDAV) -> String {
        element(name, in: namespace)?.text ?? ""
    }

    var isCollection: Bool {
        element("resourcetype")?.children
            .contains { $0.name == "collection" && $0.namespace == Self.webDAV } ?? false
    }

    /// It is told to be no collection, and to have a length, which some servers tell of collections, too.
    var isFile: Bool {
        element("resourcetype") != nil && !isCollection && Int64(text("getcontentlength")) != nil
    }
}

extension String {
    /// What follows the host of an HTTP URL, from the slash on, or the whole of what begins with one; `nil` if
    /// it is neither.
    fileprivate var urlPath: Substring? {
        // As bytes: a mark that follows a slash would be one character with it.
        if utf8.first == 0x2f { return self[...] }
        guard let rest = afterScheme("http://") ?? afterScheme("https://") else { return nil }
        return Substring(rest.utf8.drop { $0 != 0x2f && $0 != 0x3f })
    }
}

extension Substring {
    fileprivate var withoutQuery: Substring { Substring(utf8.prefix { $0 != 0x3f }) }
}
