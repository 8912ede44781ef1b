internal import CSystemShim
internal import Glibc
internal import PathText

/// How a range of a file is treated by ``OwnedDescriptor/allocate(_:offset:length:)``: the bits of
/// fallocate(2).
public struct AllocationMode: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int32
    /// Takes the bits as they are.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// FALLOC_FL_KEEP_SIZE.
    public static let keepSize = AllocationMode(rawValue: 1)
    /// FALLOC_FL_PUNCH_HOLE.
    public static let punchHole = AllocationMode(rawValue: 2)
    /// FALLOC_FL_ZERO_RANGE.
    public static let zeroRange = AllocationMode(rawValue: 16)
}

extension OwnedDescriptor {
    /// A new file that is in memory and has no name.
    public static func inMemory() throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(adopting: try check { shim_memory_file() })
    }

    /// Writes `bytes` behind all that the file has by then, whoever else appends; how many were
    /// written, at least one.
    public func append(_ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
        try check {
            bytes.withUnsafeBytes { shim_append(number, $0.baseAddress, $0.count) }
        }
    }

    /// fallocate(2).
    public func allocate(_ mode: AllocationMode, offset: Int64, length: Int64) throws(Errno) {
        try check { shim_fallocate(number, mode.rawValue, offset, length) }
    }

    /// Makes an empty file of this program's own at `path`, if there is none, where the file system writes nothing
    /// over in its place (btrfs), and has it do so with this file. Else each write takes new room, whatever was
    /// allocated ahead: on a full disk there is none, and to touch a page that is mapped is SIGBUS.
    package static func makeWrittenInPlace(_ path: String) {
        guard shim_is_copying(path.parentPath.cPath) == 1, access(path.cPath, F_OK) != 0,
            let file = try? openOwn(path, O_RDWR | O_EXCL)
        else { return }
        _ = shim_write_in_place(file.number)
    }

    /// copy_file_range(2), one call: the bytes copied, fewer than `count` at the end of the source.
    public func copyRange(
        from source: borrowing OwnedDescriptor, at sourceOffset: Int64, to offset: Int64, count: Int
    ) throws(Errno) -> Int {
        var from = sourceOffset
        var to = offset
        return try check {
            shim_copy_file_range(source.number, &from, number, &to, count)
        }
    }

    /// Where data (or, with `data` false, a hole) starts at or after `offset`; ENXIO past the end.
    public func seek(data: Bool, from offset: Int64) throws(Errno) -> Int64 {
        try check { shim_seek(number, offset, data ? 1 : 0) }
    }

    /// Makes this empty file a copy of the first `size` bytes of `source`: shares the blocks where
    /// the file system can, else copies the data and keeps the holes.
    public func copyContent(of source: borrowing OwnedDescriptor, size: Int64) throws(Errno) {
        if shim_clone_file(number, source.number) == 0 {
            try check { ftruncate(number, off_t(size)) }
            return
        }
        try check { ftruncate(number, off_t(size)) }
        var position: Int64 = 0
        while position < size {
            let start: Int64
            do throws(Errno) { start = try source.seek(data: true, from: position) } catch {
                // Only a hole is left. After any other error there may be data.
                if error.code == ENXIO { return }
                throw error
            }
            let end = min(try source.seek(data: false, from: start), size)
            position = start
            while position < end {
                let count = try copyRange(
                    from: source, at: position, to: position, count: Int(end - position))
                if count == 0 { return }
                position += Int64(count)
            }
        }
    }

    /// Makes this empty file a copy of the first `size` bytes of `source` that shares nothing with it: of what
    /// can be read, whatever has come to the disk of it. Where there are only zeros it gets holes.
    public func copyBytes(of source: borrowing OwnedDescriptor, size: Int64) throws(Errno) {
        try check { ftruncate(number, off_t(size)) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while offset < size {
            let count = min(try source.read(into: &bytes, at: offset), Int(clamping: size - offset))
            if count == 0 { return }
            if bytes[..<count].contains(where: { $0 != 0 }) {
                try write(Array(bytes[..<count]), at: offset)
            }
            offset += Int64(count)
        }
    }

    /// Sets or clears the immutable flag; needs CAP_LINUX_IMMUTABLE and a file system that has it.
    public func setImmutable(_ immutable: Bool) throws(Errno) {
        try check { shim_set_immutable(number, immutable ? 1 : 0) }
    }

    /// Whether somebody else can write the file: has it open for that, or mapped from such an open
    /// file. If this descriptor writes, others that only read count too. `false` where the file
    /// system cannot tell (no leases).
    ///
    /// The answer holds while nobody can open the file. The process must ignore SIGIO.
    public var isWritten: Bool { shim_is_written(number) == 1 }

    /// Begins to write out what is not on the disk, and does not wait for it: whoever waits later
    /// waits less. A file system that cannot do it does nothing.
    public func startWriting() { _ = shim_start_writing(number) }

    /// Writes out all of the file system that holds this file (syncfs).
    public func synchronizeFileSystem() throws(Errno) {
        try check { shim_sync_file_system(number) }
    }
}
