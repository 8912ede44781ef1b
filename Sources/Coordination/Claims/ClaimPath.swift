internal import Catalog
internal import PathText

/// Where an item is, or would be: names from the container's root down. The root itself has none.
package struct ClaimPath: Hashable, Sendable, CustomStringConvertible {
    /// The bytes of each name; none is empty, `.`, or `..`, and none has a slash in it.
    package var names: [[UInt8]]

    package init(_ names: [[UInt8]]) { self.names = names }

    /// Reads a relative path with single slashes, as `PathText` makes it; `nil` for anything else. Empty
    /// is the root.
    package init?(_ text: some StringProtocol) {
        if text.isEmpty {
            names = []
            return
        }
        let parts = String(text).pathBytes.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        names = parts.map { Array($0) }
        let isPlain = names.allSatisfy {
            !$0.isEmpty && $0 != Array(".".utf8) && $0 != Array("..".utf8) && !$0.contains(0)
                && $0.count <= 255
        }
        if !isPlain { return nil }
    }

    /// The names with slashes between them, as `PathText` makes them.
    package var description: String {
        String(path: names.joined(separator: [UInt8(ascii: "/")]))
    }

    /// Bytes of memory that a claim or a presenter takes for it, about.
    var weight: Int { names.reduce(0) { $0 + $1.count + Self.nameWeight } }

    private static let nameWeight = 192

    /// Whether this is `other` or lies below it.
    package func isAtOrBelow(_ other: ClaimPath) -> Bool { names.starts(with: other.names) }

    /// The same place below `target` that this has below `source`; `nil` if it is not there.
    package func moved(from source: ClaimPath, to target: ClaimPath) -> ClaimPath? {
        isAtOrBelow(source) ? ClaimPath(target.names + names.dropFirst(source.names.count)) : nil
    }

    /// This place, or the package that it is inside of.
    package var document: ClaimPath { ClaimPath(Array(names.prefix(PackageName.depth(names)))) }

    /// Where this is in its ``document``; without names if it is that itself.
    package var inner: ClaimPath { ClaimPath(Array(names.dropFirst(PackageName.depth(names)))) }

    /// The place that this says below `folder`.
    package func below(_ folder: ClaimPath) -> ClaimPath { ClaimPath(folder.names + names) }
}
