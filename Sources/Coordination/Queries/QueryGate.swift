internal import Model

/// What a query asks of the names and the folder of all that it finds, in three words.
///
/// A changed item is compared with every live query, and next to none looks for it: this says no to
/// nearly all of those at the cost of three comparisons, and never to one that does look for it.
struct QueryGate: Sendable {
    /// Bits of items, of which each stands for several letters, types or folders.
    struct Traits: Sendable {
        /// Of the characters of names.
        fileprivate var letters: UInt64 = 0
        /// Of all folders that an item is below.
        fileprivate var folders: UInt64 = 0
        /// Of the ends of names behind the last dot.
        fileprivate var types = Self.anyType

        /// A bit that all items have.
        fileprivate static let anyType: UInt64 = 1 << 63

        /// Adds those of an item with this path; `name` is what is behind its last slash.
        mutating func add(path: [UInt8], name: [UInt8]) {
            letters |= NamePattern.letters(of: name)
            var hash = FNV()
            for byte in path {
                hash.add(byte)
                if byte == UInt8(ascii: "/") { folders |= 1 << (hash.value & 63) }
            }
            guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return }
            let type = name[(dot + 1)...]
            // Letters beyond ASCII have an upper case too.
            types |= type.contains { $0 >= 0x80 } ? .max : Self.bit(ofType: type)
        }

        /// - Parameter type: ASCII letters in any case.
        fileprivate static func bit(ofType type: some Sequence<UInt8>) -> UInt64 {
            var hash = FNV()
            for byte in type { hash.add(byte | 0x20) }
            return 1 << (hash.value % 63)
        }
    }

    /// All of them are needed.
    private let letters: UInt64
    /// None, or the one of the query's folder.
    private let folder: UInt64
    /// One of them is needed.
    private let types: UInt64

    /// - Parameter folder: what paths begin with; with a slash behind it unless it is empty.
    init(_ query: Query, folder: [UInt8]) {
        letters = query.name.map { NamePattern($0).letters } ?? 0
        var place = FNV()
        for byte in folder { place.add(byte) }
        self.folder = folder.isEmpty ? 0 : 1 << (place.value & 63)
        types =
            query.types.isEmpty
            ? Traits.anyType : query.types.reduce(0) { $0 | Traits.bit(ofType: $1.utf8) }
    }

    /// False for items that the query surely does not look for.
    func admits(_ item: Traits) -> Bool {
        letters & ~item.letters == 0 && folder & ~item.folders == 0 && types & item.types != 0
    }
}

/// The hash function FNV-1a.
private struct FNV {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// The low bits are those of a hash as well as the others.
    var value: UInt64 { state ^ state >> 32 }
}
