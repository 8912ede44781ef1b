internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// The write-ahead journal of a container: mutations that SQLite may not have yet.
///
/// Two files of a fixed size, written by turns. They are allocated when they are made, so that a
/// full disk cannot stop a record that was admitted. A record is its length, its CRC-32 and the
/// mutation; what follows the last record of a file is older (its sequence is not the next one) or
/// zero; which one was written last stands beside them (``JournalMark``). One thread at a time;
/// ``ChangeLog`` sees to that.
package final class Journal {
    /// Bytes of one file; smaller where the disk has no room for it.
    private static let sizes = [16 << 20, 4 << 20, leastSize]
    /// No file of a journal that was made is smaller, in bytes.
    private static let leastSize = 1 << 20
    /// Nothing was ever written behind this, in bytes: what makes a file larger is damage.
    private static let mostSize = 64 << 20
    /// What the files in its folder are called.
    package static let names = records + [JournalMark.name]
    /// Those that hold records.
    private static let records = ["0", "1"]

    /// Where its files are.
    package let folder: String
    private var current = 0

    /// What a file holds.
    private struct Fill {
        var offset = 0
        var last: ChangeSequence = 0
    }
    private var fills = [Fill(), Fill()]
    private let first: OwnedDescriptor
    private let second: OwnedDescriptor
    private let mark: JournalMark
    /// What it says; 0 if nothing was written since it was opened.
    private var marked: ChangeSequence = 0
    /// Bytes a file can take.
    package let capacity: Int

    /// Opens the journal in `folder`, making it if it is not there.
    package init(folder: String) throws(Errno) {
        self.folder = folder
        try Directories.make(folder)
        let paths = Self.paths(in: folder)
        for path in paths { OwnedDescriptor.makeWrittenInPlace(path) }
        first = try OwnedDescriptor.openOwn(paths[0], O_RDWR)
        second = try OwnedDescriptor.openOwn(paths[1], O_RDWR)
        mark = try JournalMark(folder: folder)
        let sizes = (Int(try first.status().st_size), Int(try second.status().st_size))
        var capacity = min(sizes.0, sizes.1, Self.sizes[0])
        for size in Self.sizes where capacity < Self.leastSize {
            do throws(Errno) {
                try Self.allocate(first, Int64(size))
                try Self.allocate(second, Int64(size))
                capacity = size
            } catch {
                // Give back what a failed try took, then ask for less.
                ftruncate(first.number, off_t(sizes.0))
                ftruncate(second.number, off_t(sizes.1))
                if size == Self.leastSize { throw error }
            }
        }
        self.capacity = capacity
    }

    /// Gives the file room for `size` bytes, if need be by writing them, as on NFS.
    private static func allocate(_ file: borrowing OwnedDescriptor, _ size: Int64) throws(Errno) {
        do throws(Errno) { try file.allocate([], offset: 0, length: size) } catch {
            guard error.code == EOPNOTSUPP else { throw error }
            try writeZeros(file, from: Int64(try file.status().st_size), to: size)
        }
    }

    private static func writeZeros(
        _ file: borrowing OwnedDescriptor, from start: Int64, to end: Int64
    ) throws(Errno) {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        var offset = start
        while offset < end {
            let count = min(Int(end - offset), zeros.count)
            try file.write(Array(zeros[..<count]), at: offset)
            offset += Int64(count)
        }
    }

    private static func paths(in folder: String) -> [String] { records.map { folder + "/" + $0 } }

    /// A file that the journal in `folder` had when it was made, and that is missing or cut off now. One that
    /// cannot be looked at is neither.
    package static func incompleteFile(in folder: String) -> String? {
        paths(in: folder).first { path in
            var status = stat()
            return stat(path.cPath, &status) == 0 ? status.st_size < leastSize : errno == ENOENT
        }
    }

    /// What is no file in the place of one of the journal in `folder`.
    package static func oddFile(in folder: String) -> String? {
        names.map { folder + "/" + $0 }.first(where: OddFile.isAt)
    }

    private func withFile<Result>(
        _ index: Int, _ body: (borrowing OwnedDescriptor) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        index == 0 ? try body(first) : try body(second)
    }

    /// What can be read of both files.
    package func contents() throws(Errno) -> JournalContents {
        try JournalContents(files: [read(0), read(1)])
    }

    private func read(_ index: Int) throws(Errno) -> JournalContents.File {
        let bytes = try withFile(index) { (file) throws(Errno) -> [UInt8] in
            let size = min(Int(try file.status().st_size), Self.mostSize)
            var bytes = [UInt8](repeating: 0, count: size)
            try file.read(into: &bytes, at: 0)
            return bytes
        }
        return JournalContents.File(path: Self.paths(in: folder)[index], bytes: bytes)
    }

    /// Adds the mutation's record, as it stands in a file.
    static func append(_ mutation: borrowing Mutation, to writer: inout ByteWriter) {
        let start = writer.count
        writer.putFixed(0)
        MutationCoding.encode(mutation, &writer)
        let payload = start + 8
        writer.set(UInt32(writer.count - payload), at: start)
        writer.set(writer.withBytes(from: payload, CRC32.of), at: start + 4)
    }

    /// Room left in the file being written.
    package var room: Int { capacity - fills[current].offset }

    /// The last record of the file that is not being written: it may be overwritten once SQLite has
    /// everything up to it, durably.
    package var lastOfOther: ChangeSequence { fills[1 - current].last }

    /// Writes whole records, the last of which is `last`; they must fit in ``room``.
    func write(_ records: borrowing ByteWriter, last: ChangeSequence) throws(Errno) {
        let offset = fills[current].offset
        try records.withBytes { (bytes) throws(Errno) in
            try withFile(current) { (file) throws(Errno) in
                try file.write(bytes, at: Int64(offset))
            }
        }
        fills[current].offset = offset + records.count
        fills[current].last = last
    }

    /// Notes which record was written last, if that is not noted yet.
    func markLast() {
        let last = fills[current].last
        guard last > marked else { return }
        mark.note(last)
        marked = last
    }

    /// The last record that was written, of which nothing may be left; 0 if that is not known.
    package func lastWritten() throws(Errno) -> ChangeSequence { try mark.read() }

    /// Says that SQLite has all that there is, up to `last`: what was written later is given up.
    package func settle(at last: ChangeSequence) { mark.note(last) }

    /// Makes the written records survive power loss.
    package func synchronize() throws(Errno) {
        try withFile(current) { (file) throws(Errno) in try file.synchronizeData() }
    }

    /// Takes out of both files what they hold, durably: after a loss of power records can stand behind a
    /// place where some are missing, and what is recorded from now on has their numbers.
    ///
    /// Nothing may have been written since it was opened, and SQLite has everything, durably.
    package func clear() throws(Errno) {
        for index in fills.indices {
            try withFile(index) { (file) throws(Errno) in
                let size = min(Int64(try file.status().st_size), Int64(Self.mostSize))
                do throws(Errno) {
                    try file.allocate([.zeroRange, .keepSize], offset: 0, length: size)
                } catch {
                    // A file system that cannot do this at once.
                    try Self.writeZeros(file, from: 0, to: size)
                }
                try file.synchronizeData()
            }
        }
    }

    /// Goes on in the other file, from its start. The full one is made durable first.
    package func rotate() throws(Errno) {
        try synchronize()
        current = 1 - current
        fills[current] = Fill()
    }
}
