internal import Model

/// An open file description as the kernel hands it back: it describes itself, so that another
/// daemon could take it over. Never a pointer, never a descriptor.
///
/// Bits 0-1: access (1 read, 2 write); 2: counted as passthrough; 3: counted as cached; 4: direct;
/// 5: bypasses the kernel's page cache; 6: reads a promise block by block; 7: the kernel dropped its
/// pages at the open; 8-31: the process that opened; 32-63: a serial number.
struct Handle: RawRepresentable, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// That of the process that repeats changes: nothing is read, written or published by it.
    static let replayed = Handle(rawValue: .max)

    enum Way: UInt64 {
        /// The kernel reads and writes the backing file by itself.
        case passthrough = 4
        /// Through the page cache and the daemon.
        case cached = 8
        /// Every read and write comes to the daemon: a writer on a version's node, which could not
        /// be redirected, writes to the item's session.
        case direct = 16
    }

    init(
        reads: Bool, writes: Bool, way: Way, bypassesCache: Bool = false, inBlocks: Bool = false,
        dropsPages: Bool = false, process: Int32, serial: UInt32
    ) {
        let more: UInt64 = (bypassesCache ? 32 : 0) | (inBlocks ? 64 : 0) | (dropsPages ? 128 : 0)
        rawValue =
            (reads ? 1 : 0) | (writes ? 2 : 0) | way.rawValue | more
            | UInt64(UInt32(bitPattern: process) & 0xff_ffff) << 8 | UInt64(serial) << 32
    }

    var writes: Bool { rawValue & 2 != 0 }
    /// What is written by it comes to the daemon as it is written, and no fsync follows by itself.
    var bypassesCache: Bool { rawValue & (Way.direct.rawValue | 32) != 0 }
    /// Its content was not here when it was opened, and is read as it comes.
    var isInBlocks: Bool { rawValue & 64 != 0 }
    /// When it was opened the kernel dropped what pages it had of the node.
    var dropsPages: Bool { rawValue & 128 != 0 }
    var isPassthrough: Bool { rawValue & Way.passthrough.rawValue != 0 }
    var isCached: Bool { rawValue & Way.cached.rawValue != 0 }
    var isDirect: Bool { rawValue & Way.direct.rawValue != 0 }
    /// Of handles, in the order in which they were opened; begins anew after four billion.
    var serial: UInt32 { UInt32(rawValue >> 32) }
    var process: Int32 { Int32(truncatingIfNeeded: rawValue >> 8 & 0xff_ffff) }
}

/// How an open is answered.
struct Opened {
    var handle: Handle
    /// The kernel's number of the backing file for passthrough, else 0.
    var backing: Int32
}
