internal import Glibc
internal import Model
internal import SystemCalls

/// A file that small contents are appended to, one after the other, until they get files of their
/// own. What is in it is never written over.
///
/// An entry is six words, lowest byte first (magic, node, size, modification time, change time, the
/// others mixed), and the bytes. A size of -1 says that what the node had before counts no more. An entry
/// counts only if the catalog says that it was acknowledged, which happens after it was written whole; the
/// CRC-32 of the bytes, in the upper half of the size, is for damage that no crash does. Entries with the
/// first magic, of earlier releases, have none.
///
/// Guarded by the lock of ``PackedContents``.
final class Pack: @unchecked Sendable {
    // Unchecked because of `end` and `live`, which that lock guards.
    let number: Int
    let file: SharedDescriptor
    /// Where the next entry goes.
    var end: Int64
    /// Contents that are nowhere else.
    var live = 0

    /// Bytes of an entry before the content's.
    static let header = 48
    private static let magic: UInt64 = 0x6b63_6150_6570_6854
    private static let magicWithoutSum: UInt64 = 0x6b63_6150_6570_6853

    init(_ number: Int, _ file: consuming OwnedDescriptor, end: Int64) {
        self.number = number
        self.file = SharedDescriptor(file)
        self.end = end
    }

    /// What an entry says.
    struct Head {
        var node: NodeNumber
        /// -1 if the content was withdrawn.
        var size: Int64
        var modified: Timestamp
        var changed: Timestamp

        /// Where the content is in the file.
        var offset: Int64 = 0
        /// The CRC-32 of its bytes; `nil` if it is not known.
        var sum: UInt32?
    }

    /// Whether the bytes of an entry of this file are those that were written.
    func isWhole(_ head: Head) throws(Errno) -> Bool {
        guard let sum = head.sum else { return true }
        var bytes = [UInt8](repeating: 0, count: Int(max(head.size, 0)))
        let count = try file.with { (file) throws(Errno) in
            try file.read(into: &bytes, at: head.offset)
        }
        return count == bytes.count && bytes.withUnsafeBytes(CRC32.of) == sum
    }

    /// Appends an entry. `bytes` are the content's behind room for the header.
    ///
    /// - Returns: where the content is.
    func append(_ bytes: inout [UInt8], _ head: Head) throws(Errno) -> Int64 {
        bytes.withUnsafeMutableBytes { bytes in
            let content = CRC32.of(UnsafeRawBufferPointer(rebasing: bytes[Self.header...]))
            let size = UInt64(UInt32(truncatingIfNeeded: head.size)) | UInt64(content) << 32
            var sum = Self.seed
            func put(_ word: UInt64, _ index: Int) {
                bytes.storeBytes(of: word.littleEndian, toByteOffset: index * 8, as: UInt64.self)
                sum = Self.mix(sum, word)
            }
            put(Self.magic, 0)
            put(head.node.rawValue, 1)
            put(size, 2)
            put(head.modified.rawValue, 3)
            put(head.changed.rawValue, 4)
            put(sum, 5)
        }
        let start = end
        try file.with { [bytes] (file) throws(Errno) in try file.write(bytes, at: start) }
        end = start + Int64(bytes.count)
        return start + Int64(Self.header)
    }

    /// All whole entries, in order. Behind one that is torn or damaged they go on where the next is found.
    static func entries(of file: SharedDescriptor) throws(Errno) -> [Head] {
        let size = try file.status().size
        var entries: [Head] = []
        var offset: Int64 = 0
        while offset + Int64(header) <= size {
            if let head = try entry(of: file, at: offset, size) {
                entries.append(head)
                offset = head.offset + max(head.size, 0)
            } else if let next = try nextMagic(in: file, from: offset + 1) {
                offset = next
            } else {
                break
            }
        }
        return entries
    }

    /// The entry at an offset of a file of this size; `nil` if there is none.
    private static func entry(of file: SharedDescriptor, at offset: Int64, _ size: Int64)
        throws(Errno) -> Head?
    {
        var bytes = [UInt8](repeating: 0, count: header)
        _ = try file.with { (file) throws(Errno) in try file.read(into: &bytes, at: offset) }
        let words = bytes.withUnsafeBytes { bytes in
            (0..<6).map { index in
                UInt64(
                    littleEndian: bytes.loadUnaligned(
                        fromByteOffset: index * 8, as: UInt64.self))
            }
        }
        let hasSum = words[0] == magic
        guard hasSum || words[0] == magicWithoutSum, words[5] == words[..<5].reduce(seed, mix)
        else { return nil }
        var head = Head(
            node: NodeNumber(rawValue: words[1]),
            size: hasSum
                ? Int64(Int32(truncatingIfNeeded: words[2])) : Int64(bitPattern: words[2]),
            modified: Timestamp(rawValue: words[3]), changed: Timestamp(rawValue: words[4]))
        head.offset = offset + Int64(header)
        if hasSum { head.sum = UInt32(truncatingIfNeeded: words[2] >> 32) }
        return head.size >= -1 && head.size <= size - head.offset ? head : nil
    }

    /// Bytes that are looked through at a time, at first and at most: a content may be full of what looks like
    /// an entry's beginning.
    private static let parts = 4 << 10...1 << 20

    /// Where the next entry may begin.
    private static func nextMagic(in file: SharedDescriptor, from start: Int64)
        throws(Errno) -> Int64?
    {
        var bytes = [UInt8](repeating: 0, count: parts.lowerBound)
        var offset = start
        while true {
            let count = try file.with { (file) throws(Errno) in
                try file.read(into: &bytes, at: offset)
            }
            let found = bytes.withUnsafeBytes { bytes in
                (0..<max(count - 7, 0)).first { place in
                    let word = UInt64(
                        littleEndian: bytes.loadUnaligned(
                            fromByteOffset: place, as: UInt64.self))
                    return word == magic || word == magicWithoutSum
                }
            }
            if let found { return offset + Int64(found) }
            if count < bytes.count { return nil }
            // One may lie across the end.
            offset += Int64(count - 7)
            if count < parts.upperBound { bytes += [UInt8](repeating: 0, count: count) }
        }
    }

    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325

    /// A step of the sum of the first five words.
    private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ mixed >> 29
    }
}
