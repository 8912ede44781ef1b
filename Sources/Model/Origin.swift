/// Where an imported item comes from: an object of a foreign tree, as a listing told of it.
///
/// One for each imported item, also of one that was removed here since: it keeps a later listing from
/// bringing it again.
package struct OriginRow: Hashable, Sendable {
    package var item: ItemNumber
    /// The folder that the tree was imported to: it stands for the tree (``SourceRow``).
    package var source: ItemNumber
    /// From the tree's root on, without a slash at either end; empty for the root.
    package var path: [UInt8]
    /// What the source knows the object by, whatever its path; empty if it has nothing of the kind.
    package var identity: [UInt8]
    /// Changes with the object's content: an etag, or its times and size. Empty for folders.
    package var tag: [UInt8]
    /// What the current version's content is called as long as it is the source's: see
    /// ``ContentPlace/elsewhere``. Once it is here, its hash. `nil` for what has no content.
    package var content: ContentHash?
    /// Where the item is as long as something else has the name that it has at the source, or as long
    /// as its folder is known by another path than the item's says; `nil` for all others.
    package var waitsAt: NamePlace?

    /// The identity of objects that the source does not show any more, but whose documents are here: what
    /// has their path next is theirs.
    private static let nobody: [UInt8] = [0]

    /// Whether the object was there no more when the source was listed last.
    package var isGone: Bool { identity == Self.nobody }

    /// The row of what is here still when the source does not show it any more.
    package var gone: OriginRow {
        var row = self
        row.identity = Self.nobody
        return row
    }

    package init(
        item: ItemNumber, source: ItemNumber, path: [UInt8], identity: [UInt8], tag: [UInt8],
        content: ContentHash?, waitsAt: NamePlace? = nil
    ) {
        self.item = item
        self.source = source
        self.path = path
        self.identity = identity
        self.tag = tag
        self.content = content
        self.waitsAt = waitsAt
    }
}

/// A tree that was imported.
package struct SourceRow: Hashable, Sendable {
    /// The folder it was imported to.
    package var root: ItemNumber
    /// As the user gave it; holds no password.
    package var address: String

    package init(root: ItemNumber, address: String) {
        self.root = root
        self.address = address
    }
}
