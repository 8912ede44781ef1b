/// The SHA-256 of a content; blobs are named by it.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes, eight to a word, the first byte in the lowest bits of `word0`.
    package var word0, word1, word2, word3: UInt64

    package init(word0: UInt64, word1: UInt64, word2: UInt64, word3: UInt64) {
        self.word0 = word0
        self.word1 = word1
        self.word2 = word2
        self.word3 = word3
    }

    /// Reads exactly 32 bytes; `nil` for any other count.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() {
            words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8)
        }
        self.init(word0: words[0], word1: words[1], word2: words[2], word3: words[3])
    }

    /// The 32 bytes in the order of the hash's hexadecimal form.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            for index in 0..<32 { buffer.initializeElement(at: index, to: byte(index)) }
            count = 32
        }
    }

    /// 64 lower-case hexadecimal digits.
    package var description: String {
        // Names of files are made of it all the time: no arrays on the way.
        String(unsafeUninitializedCapacity: 64) { buffer in
            for index in 0..<32 {
                let value = byte(index)
                buffer.initializeElement(at: 2 * index, to: Self.digit(value >> 4))
                buffer.initializeElement(at: 2 * index + 1, to: Self.digit(value & 15))
            }
            return 64
        }
    }

    private func byte(_ index: Int) -> UInt8 {
        let word =
            switch index / 8 {
            case 0: word0
            case 1: word1
            case 2: word2
            default: word3
            }
        return UInt8(truncatingIfNeeded: word >> UInt64(index % 8 * 8))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// Where the bytes of a version lie in the container's folder.
package enum ContentPlace: UInt8, Sendable {
    /// There are none: a directory, a special file, or a regular file that was never written.
    case none = 0
    /// In `staging/<node>`: published, not yet known to be on the disk, hash perhaps not known yet.
    case staged = 1
    /// In `blobs/<first two digits>/<hash>`: durable, its hash known.
    case sealed = 2
    /// In `staging/<node>` and, by an fsync, on the disk; hash perhaps not known yet.
    case durable = 3
    /// As ``sealed``, and in the container's store.
    case stored = 4
    /// In the container's store. A blob of that hash may be here too, whole, but is not yet known to
    /// be on the disk.
    case promised = 5
    /// In the tree that the item was imported from (``OriginRow``), and nowhere else. Its bytes have
    /// never been seen, so what stands for their hash is only a name for them: the hash of where they
    /// are and of the tag they have there. Once they have come, the version is ``sealed``.
    case elsewhere = 6

    /// Named for good: it never changes its bytes any more and needs no sealing.
    package var isNamed: Bool {
        self == .sealed || self == .stored || self == .promised || self == .elsewhere
    }

    /// The bytes have to come before they can be read.
    package var isAway: Bool { self == .promised || self == .elsewhere }

    /// The blob is in the container's folder, durably.
    package var isBlob: Bool { self == .sealed || self == .stored }
}
