package import Model

/// An item in the memory index: 120 bytes, everything that `stat` needs.
package struct ItemRecord: BitwiseCopyable {
    /// The item's number; 0 while the record is free (then ``firstName`` links the free records).
    package var number: UInt64 = 0
    package var document: UInt64 = 0
    package var size: Int64 = 0
    /// ``Timestamp`` raw values.
    package var modified: UInt64 = 0
    package var changed: UInt64 = 0
    package var accessed: UInt64 = 0
    /// Regular files: the content's hash. Directories: see ``firstChild`` and the others. Symlinks:
    /// where the target lies in the names. Device nodes: the device in `word0`.
    package var word0: UInt64 = 0
    package var word1: UInt64 = 0
    package var word2: UInt64 = 0
    package var word3: UInt64 = 0
    package var mode: UInt32 = 0
    package var user: UInt32 = 0
    package var group: UInt32 = 0
    package var links: UInt32 = 0
    package var ordinal: UInt32 = 0
    package var nextOrdinal: UInt32 = 0
    /// Blocks of 4 KiB of the current version.
    package var blocks: UInt32 = 0
    /// The oldest of the item's names, the one that its document goes by; the others, in no order,
    /// are linked by ``NameRecord/nextOfItem``.
    package var firstName: UInt32 = 0
    /// How often the kernel has looked up the current node and not forgotten it.
    package var lookups: UInt32 = 0
    package var flags: Flags = []

    package struct Flags: OptionSet, BitwiseCopyable, Sendable {
        package let rawValue: UInt32
        // The low three bits are the ``ContentPlace``.
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let hasHash = Flags(rawValue: 128)
        package static let hasAttributes = Flags(rawValue: 8)
        /// A write session is open.
        package static let inSession = Flags(rawValue: 16)
        /// Nodes of earlier contents, or of ended sessions, are known to the kernel.
        package static let hasOldNodes = Flags(rawValue: 32)
        /// The access time is newer here than in the catalog.
        package static let accessPending = Flags(rawValue: 64)
        /// The kernel may keep names and attributes of the item's pictures.
        package static let isPictured = Flags(rawValue: 256)
        /// Made without a name, and can be given one still.
        package static let isLinkable = Flags(rawValue: 512)
        /// The kernel may have pages of the current node from before its last write.
        package static let mayHaveStalePages = Flags(rawValue: 1024)
        /// Its time of modification was set, and nobody has opened it to read since.
        package static let hasSetTime = Flags(rawValue: 2048)
    }

    package var place: ContentPlace {
        get { ContentPlace(rawValue: UInt8(flags.rawValue & 7)) ?? .none }
        set { flags = Flags(rawValue: flags.rawValue & ~7 | UInt32(newValue.rawValue)) }
    }

    package var hash: ContentHash? {
        get {
            guard flags.contains(.hasHash) else { return nil }
            return ContentHash(word0: word0, word1: word1, word2: word2, word3: word3)
        }
        set {
            guard let newValue else {
                flags.remove(.hasHash)
                return
            }
            flags.insert(.hasHash)
            (word0, word1, word2, word3) =
                (newValue.word0, newValue.word1, newValue.word2, newValue.word3)
        }
    }

    /// The ordinal of a version that is about to be made. After 134 million of them they begin anew; what had
    /// the first ones is long gone. So it is where a damaged catalog has a next one that cannot be.
    package mutating func takeOrdinal() -> Ordinal {
        let canBe = (1...NodeNumber.largestOrdinal).contains(nextOrdinal) && nextOrdinal != ordinal
        let taken = canBe ? nextOrdinal : ordinal % NodeNumber.largestOrdinal + 1
        nextOrdinal = taken + 1
        return taken
    }

    @inline(__always) package var isDirectory: Bool { mode & 0o170000 == 0o040000 }
    @inline(__always) package var isRegular: Bool { mode & 0o170000 == 0o100000 }
    @inline(__always) package var isSymlink: Bool { mode & 0o170000 == 0o120000 }

    @inline(__always) package var node: NodeNumber {
        NodeNumber(ItemNumber(rawValue: number), ordinal)
    }

    // Directories: the list of names in the order they came.
    package var firstChild: UInt32 {
        get { UInt32(truncatingIfNeeded: word0) }
        set { word0 = word0 & ~0xffff_ffff | UInt64(newValue) }
    }
    package var lastChild: UInt32 {
        get { UInt32(truncatingIfNeeded: word0 >> 32) }
        set { word0 = word0 & 0xffff_ffff | UInt64(newValue) << 32 }
    }
    package var childCount: UInt32 {
        get { UInt32(truncatingIfNeeded: word1) }
        set { word1 = word1 & ~0xffff_ffff | UInt64(newValue) }
    }
    /// Counts the names ever put in, so that a listing can go on where it stopped.
    package var nextSequence: UInt32 {
        get { UInt32(truncatingIfNeeded: word1 >> 32) }
        set { word1 = word1 & 0xffff_ffff | UInt64(newValue) << 32 }
    }
}

/// A name in a directory: 36 bytes and the name's own.
package struct NameRecord: BitwiseCopyable {
    /// Records (not numbers) of the directory and of the item.
    package var parent: UInt32 = 0
    package var item: UInt32 = 0
    /// Where the bytes lie, in units of 8; they end with a NUL.
    var place: UInt32 = 0
    var hash: UInt32 = 0
    /// Neighbours in the directory; `next` links free records.
    package var previous: UInt32 = 0
    package var next: UInt32 = 0
    package var nextOfItem: UInt32 = 0
    /// Grows along the directory's list.
    package var sequence: UInt32 = 0
    /// The length in the low 12 bits (no name has more than 255 bytes), above it the rank.
    var lengthAndRank: UInt32 = 0

    /// The highest rank there is; names beyond it are as old as each other.
    package static let lastRank: UInt32 = 0xf_ffff

    /// Bytes of the name.
    package var length: UInt32 { lengthAndRank & 0xfff }

    /// Where the name stands among those of its item, by age: 0 but for hard links.
    package var rank: UInt32 { lengthAndRank >> 12 }
}
