/// All that is known of an item but its names, xattrs and earlier versions.
package struct ItemRow: Hashable, Sendable {
    package var number: ItemNumber
    /// Type and permission bits, as `st_mode`.
    package var mode: UInt32
    package var user: UInt32
    package var group: UInt32
    /// Names of the item; for directories 2 + subdirectories, as on ext4. 0: unlinked, still open.
    package var links: UInt32
    /// `st_rdev` of device nodes, else 0.
    package var device: UInt64
    /// Bytes of the current version (regular files) or of the target (symlinks).
    package var size: Int64
    /// 512-byte blocks of the current version.
    package var blocks: Int64
    package var modified: Timestamp
    package var changed: Timestamp
    package var accessed: Timestamp
    package var document: DocumentID
    /// The current version's ordinal; 0 while nothing has been published.
    package var ordinal: Ordinal
    /// The next ordinal a session of this item may take.
    package var nextOrdinal: Ordinal
    package var place: ContentPlace
    /// The current version's hash, once known.
    package var hash: ContentHash?
    /// What a symlink points to, any bytes; `nil` for everything else.
    package var target: [UInt8]?

    package init(
        number: ItemNumber, mode: UInt32, user: UInt32, group: UInt32, links: UInt32,
        device: UInt64 = 0, size: Int64 = 0, blocks: Int64 = 0, modified: Timestamp,
        changed: Timestamp, accessed: Timestamp, document: DocumentID, ordinal: Ordinal = 0,
        nextOrdinal: Ordinal = 1, place: ContentPlace = .none, hash: ContentHash? = nil,
        target: [UInt8]? = nil
    ) {
        self.number = number
        self.mode = mode
        self.user = user
        self.group = group
        self.links = links
        self.device = device
        self.size = size
        self.blocks = blocks
        self.modified = modified
        self.changed = changed
        self.accessed = accessed
        self.document = document
        self.ordinal = ordinal
        self.nextOrdinal = nextOrdinal
        self.place = place
        self.hash = hash
        self.target = target
    }

    package var node: NodeNumber { NodeNumber(number, ordinal) }
}

/// One published content of a document. Immutable but for `place` and `hash`, which sealing fills.
package struct VersionRow: Hashable, Sendable {
    package var document: DocumentID
    package var item: ItemNumber
    package var ordinal: Ordinal
    package var size: Int64
    package var blocks: Int64
    /// The content's modification time, as `st_mtime` showed it.
    package var modified: Timestamp
    /// When it became the current version.
    package var published: Timestamp
    /// The user id of the process that wrote it.
    package var author: UInt32
    package var place: ContentPlace
    package var hash: ContentHash?

    /// The largest size of a content that there is, in bytes: ext4 holds none that is larger.
    package static let largestSize: Int64 = 1 << 44

    package init(
        document: DocumentID, item: ItemNumber, ordinal: Ordinal, size: Int64, blocks: Int64,
        modified: Timestamp, published: Timestamp, author: UInt32, place: ContentPlace,
        hash: ContentHash?
    ) {
        self.document = document
        self.item = item
        self.ordinal = ordinal
        self.size = size
        self.blocks = blocks
        self.modified = modified
        self.published = published
        self.author = author
        self.place = place
        self.hash = hash
    }

    package var node: NodeNumber { NodeNumber(item, ordinal) }
}

/// A write session that has acknowledged something: what recovery publishes if the daemon dies.
package struct SessionRow: Hashable, Sendable {
    package var item: ItemNumber
    package var ordinal: Ordinal
    /// The user id of the process that wrote.
    package var author: UInt32
    /// Size, modification and change time of the staging file when this was recorded.
    package var size: Int64
    package var modified: Timestamp
    package var changed: Timestamp
    /// A close() acknowledged bytes that were written (not only a truncation).
    package var wrote: Bool
    /// An fsync() acknowledged the staged bytes.
    package var synced: Bool

    /// The same where the close that it was recorded for has failed.
    package var ofNoClose: SessionRow {
        var row = self
        (row.wrote, row.synced) = (false, false)
        return row
    }

    package init(
        item: ItemNumber, ordinal: Ordinal, author: UInt32, size: Int64, modified: Timestamp,
        changed: Timestamp, wrote: Bool, synced: Bool
    ) {
        self.item = item
        self.ordinal = ordinal
        self.author = author
        self.size = size
        self.modified = modified
        self.changed = changed
        self.wrote = wrote
        self.synced = synced
    }

    package var node: NodeNumber { NodeNumber(item, ordinal) }
}
