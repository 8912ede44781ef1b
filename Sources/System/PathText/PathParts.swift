/// Paths taken apart by their bytes. To a `String` a slash with a combining mark behind it is one
/// character and no slash, and names are the same that Unicode takes for the same; a file system
/// knows neither.
extension String {
    /// Where the path's last slash is; `nil` if it has none.
    public var lastSlash: Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// What stands behind the path's last slash; all of it if it has none.
    public var lastName: Substring {
        lastSlash.map { self[utf8.index(after: $0)...] } ?? self[...]
    }

    /// The path of the folder that the last name of an absolute path is in; that of the root is the root.
    public var parentPath: String {
        guard let slash = lastSlash, slash != startIndex else { return "/" }
        return String(self[..<slash])
    }

    /// The names between the path's slashes, without empty ones.
    public var pathNames: [Substring] {
        utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
    }

    /// Whether the path leads to something below a folder, whose path does not end with a slash.
    public func isBelow(_ folder: String) -> Bool {
        let (path, folder) = (utf8, folder.utf8)
        guard path.count > folder.count, path.starts(with: folder) else { return false }
        return path[path.index(path.startIndex, offsetBy: folder.count)] == UInt8(ascii: "/")
    }

    /// What stands behind the path of a folder that this is, or is below.
    public func behind(_ folder: String) -> Substring {
        self[utf8.index(startIndex, offsetBy: folder.utf8.count)...]
    }

    /// The path from a folder on that this is, or is below; empty for the folder itself.
    public func relative(to folder: String) -> String {
        String(Substring(behind(folder).utf8.drop { $0 == UInt8(ascii: "/") }))
    }
}

/// A path as a key: two are the same only if all their bytes are. In the order of their bytes, so that a
/// folder comes before what is in it.
///
/// Pure; any thread.
public struct PathKey: Hashable, Comparable, Sendable {
    /// As ``PathText`` makes it, which gives every path a text of its own.
    public let text: String

    /// The key of a path's text.
    public init(_ text: String) { self.text = text }

    /// Whether all bytes are the same.
    public static func == (one: PathKey, other: PathKey) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// Whether it comes first by its bytes.
    public static func < (one: PathKey, other: PathKey) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Of the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether it leads to something below a folder.
    public func isBelow(_ folder: PathKey) -> Bool { text.isBelow(folder.text) }

    /// The path of the folder that its last name is in; empty where there is only one name.
    public var folder: PathKey { PathKey(text.lastSlash.map { String(text[..<$0]) } ?? "") }

    /// An item in the folder of this path; the empty path is the folder that paths begin at.
    public func appending(_ name: String) -> PathKey {
        PathKey(text.isEmpty ? name : text + "/" + name)
    }

    /// The same place at or below `target` that this has at or below `source`.
    public func moved(from source: PathKey, to target: PathKey) -> PathKey {
        PathKey(target.text + String(text.behind(source.text)))
    }
}
