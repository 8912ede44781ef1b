internal import Glibc
internal import Model
internal import SystemCalls

/// A file that small contents are appended to, one after the other, until they get files of their
/// own. What is in it is never written over.
///
/// An entry is six words, lowest byte first (magic, node, size, modification time, change time, the
/// others mixed), and the bytes. A size of -1 says that what the node had before counts no more. The
/// bytes have no sum of their own: an entry counts only if the catalog says that it was acknowledged,
/// which happens after it was written whole.
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
    private static let magic: UInt64 = 0x6b63_6150_6570_6853

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
    }

    /// Appends an entry. `bytes` are the content's behind room for the header.
    ///
    /// - Returns: where the content is.
    func append(_ bytes: inout [UInt8], _ head: Head) throws(Errno) -> Int64 {
        bytes.withUnsafeMutableBytes { bytes in
            var sum = Self.seed
            func put(_ word: UInt64, _ index: Int) {
                bytes.storeBytes(of: word.littleEndian, toByteOffset: index * 8, as: UInt64.self)
                sum = Self.mix(sum, word)
            }
            put(Self.magic, 0)
            put(head.node.rawValue, 1)
            put(UInt64(bitPattern: head.size), 2)
            put(head.modified.rawValue, 3)
            put(head.changed.rawValue, 4)
            put(sum, 5)
        }
        let start = end
        try file.with { [bytes] (file) throws(Errno) in try file.write(bytes, at: start) }
        end = start + Int64(bytes.count)
        return start + Int64(Self.header)
    }

    /// All whole entries, in order; ends at the first that is missing or torn.
    static func entries(of file: SharedDescriptor) throws(Errno) -> [Head] {
        let size = try file.status().size
        var entries: [Head] = []
        var offset: Int64 = 0
        var bytes = [UInt8](repeating: 0, count: header)
        while offset + Int64(header) <= size {
            _ = try file.with { (file) throws(Errno) in
                try file.read(into: &bytes, at: offset)
            }
            let words = bytes.withUnsafeBytes { bytes in
                (0..<6).map { index in
                    UInt64(
                        littleEndian: bytes.loadUnaligned(
                            fromByteOffset: index * 8, as: UInt64.self))
                }
            }
            guard words[0] == magic, words[5] == words[..<5].reduce(seed, mix) else { break }
            var head = Head(
                node: NodeNumber(rawValue: words[1]), size: Int64(bitPattern: words[2]),
                modified: Timestamp(rawValue: words[3]), changed: Timestamp(rawValue: words[4]))
            head.offset = offset + Int64(header)
            guard head.size >= -1, head.size <= size - head.offset else { break }
            entries.append(head)
            offset = head.offset + max(head.size, 0)
        }
        return entries
    }

    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325

    /// A step of the sum of the first five words.
    private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ mixed >> 29
    }
}
