/// The persistent number of an item: what `stat` shows as `st_ino`. Never reused; the root is 1.
package struct ItemNumber: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The directory a mount shows at its mount point.
    package static let root = ItemNumber(rawValue: 1)

    package static func < (left: ItemNumber, right: ItemNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Counts the contents of one item: 0 is the empty content of a new file; each write session takes
/// the next number, and its publish makes that number the version's. Never reused for one item.
package typealias Ordinal = UInt32

/// What the kernel knows a file by: one number per published version and per write session.
///
/// All nodes of an item answer the same `st_ino`. The number describes itself, 36 bits of item and
/// 28 bits of ordinal, so that no table is needed to read it and it is the same after a remount.
/// Directories, symlinks and special files have ordinal 0: node and item number are then equal.
package struct NodeNumber: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ item: ItemNumber, _ ordinal: Ordinal) {
        rawValue = UInt64(ordinal) << Self.itemBits | item.rawValue
    }

    /// Bits that hold the item's number: 68 billion items in the life of a container.
    package static let itemBits: UInt64 = 36
    /// The largest item number a container can give out.
    package static let largestItem: UInt64 = 1 << itemBits - 1
    /// Whether an item can have the number.
    package static func isItem(_ number: UInt64) -> Bool { number != 0 && number <= largestItem }
    /// The largest ordinal; the top bit of a node number marks virtual nodes.
    package static let largestOrdinal: Ordinal = 1 << 27 - 1

    package var item: ItemNumber { ItemNumber(rawValue: rawValue & Self.largestItem) }
    package var ordinal: Ordinal { Ordinal(truncatingIfNeeded: rawValue >> Self.itemBits) }

    /// The name of this node's staging file: 16 lower-case hexadecimal digits.
    package var fileName: String { hexadecimal(rawValue) }

    /// What a version is called in commands and attributes: item and ordinal, as in `17-3`.
    package var versionName: String { "\(item.rawValue)-\(ordinal)" }

    /// Reads what ``versionName`` wrote; `nil` for anything else.
    package init?(versionName text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let item = UInt64(parts[0]), item <= Self.largestItem,
            let ordinal = Ordinal(parts[1]), ordinal <= Self.largestOrdinal
        else { return nil }
        self.init(ItemNumber(rawValue: item), ordinal)
        if versionName != text { return nil }
    }
}

/// A document's identity, which outlives inodes: it follows the name in save-by-rename.
package struct DocumentID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// 16 lower-case hexadecimal digits, as `user.shapeedit.id` shows it.
    package var description: String { hexadecimal(rawValue) }

    /// Reads what ``description`` wrote; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        guard let value = UInt64(text, radix: 16), hexadecimal(value) == text else { return nil }
        rawValue = value
    }
}

/// The place of a change in the container's log: 1, 2, 3, ... without a gap, in commit order.
package typealias ChangeSequence = UInt64

/// 16 lower-case hexadecimal digits of `value`.
package func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}
