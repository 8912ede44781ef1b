internal import Glibc
package import Model
package import SystemCalls

/// The write-ahead journal of a container: mutations that SQLite may not have yet.
///
/// Two files of a fixed size, written by turns. They are allocated when they are made, so that a
/// full disk cannot stop a record that was admitted. A record is its length, its CRC-32 and the
/// mutation; what follows the last record of a file is older (its sequence is not the next one) or
/// zero. One thread at a time; ``ChangeLog`` sees to that.
package final class Journal {
    /// Bytes of one file; smaller where the disk has no room for it.
    private static let sizes = [16 << 20, 4 << 20, 1 << 20]

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
    /// Bytes a file can take.
    package let capacity: Int

    /// Opens the journal in `folder`, making it if it is not there.
    package init(folder: String) throws(Errno) {
        self.folder = folder
        try Directories.make(folder)
        first = try OwnedDescriptor.open(folder + "/0", O_RDWR | O_CREAT, mode: 0o600)
        second = try OwnedDescriptor.open(folder + "/1", O_RDWR | O_CREAT, mode: 0o600)
        let sizes = (Int(try first.status().st_size), Int(try second.status().st_size))
        var capacity = min(sizes.0, sizes.1)
        for size in Self.sizes where capacity < Self.sizes[2] {
            do throws(Errno) {
                try first.allocate([], offset: 0, length: Int64(size))
                try second.allocate([], offset: 0, length: Int64(size))
                capacity = size
            } catch {
                // Give back what a failed try took, then ask for less.
                ftruncate(first.number, off_t(sizes.0))
                ftruncate(second.number, off_t(sizes.1))
                if size == Self.sizes[2] { throw error }
            }
        }
        self.capacity = capacity
    }

    private func withFile<Result>(
        _ index: Int, _ body: (borrowing OwnedDescriptor) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        index == 0 ? try body(first) : try body(second)
    }

    /// All whole records, in order. Ends at the first place where a record is missing or torn.
    package func records() throws(Errno) -> [Mutation] {
        let lists = [try records(in: 0), try records(in: 1)].filter { !$0.isEmpty }
            .sorted { $0[0].sequence < $1[0].sequence }
        var all: [Mutation] = []
        for list in lists {
            if let last = all.last, list[0].sequence != last.sequence + 1 {
                // The older file ends before the newer begins only if its records are long applied.
                all = []
            }
            all += list
        }
        return all
    }

    private func bytes(of index: Int) throws(Errno) -> [UInt8] {
        try withFile(index) { (file) throws(Errno) in
            var bytes = [UInt8](repeating: 0, count: Int(try file.status().st_size))
            try file.read(into: &bytes, at: 0)
            return bytes
        }
    }

    /// How far behind a record that cannot be read it is looked for later ones, in bytes.
    private static let reach = 256 << 10

    /// Where a record later than `last`, the last that can be read, stands behind one that cannot:
    /// something was damaged. Records are written in order, so that a crash leaves none.
    package func damage(after last: ChangeSequence) -> (file: String, offset: Int)? {
        for index in 0...1 {
            guard let bytes = try? bytes(of: index) else { continue }
            let end = Self.end(of: bytes)
            for offset in end..<min(end + Self.reach, max(bytes.count - 8, end)) {
                guard let sequence = Self.sequence(in: bytes, at: offset), sequence > last else {
                    continue
                }
                return ("\(folder)/\(index)", end)
            }
        }
        return nil
    }

    /// Where the first record begins that is not whole, or of which there is none.
    private static func end(of bytes: [UInt8]) -> Int {
        var offset = 0
        while let length = length(in: bytes, at: offset), sequence(in: bytes, at: offset) != nil {
            offset += 8 + length
        }
        return offset
    }

    /// The length of a record that could stand at a place.
    private static func length(in bytes: [UInt8], at offset: Int) -> Int? {
        guard offset + 8 <= bytes.count else { return nil }
        let length = Int(word(bytes, offset))
        return length > 0 && length <= bytes.count - offset - 8 ? length : nil
    }

    /// The sequence of a whole record that stands at a place.
    private static func sequence(in bytes: [UInt8], at offset: Int) -> ChangeSequence? {
        // Most places are told at a glance: no record is so long.
        guard offset + 8 <= bytes.count, bytes[offset + 3] == 0, bytes[offset + 2] <= reach >> 16,
            let length = length(in: bytes, at: offset)
        else { return nil }
        let payload = bytes[offset + 8..<offset + 8 + length]
        guard payload.withUnsafeBytes(Checksum.of) == word(bytes, offset + 4) else { return nil }
        return (try? MutationCoding.decode(payload))?.sequence
    }

    private func records(in index: Int) throws(Errno) -> [Mutation] {
        let bytes = try bytes(of: index)
        var list: [Mutation] = []
        var offset = 0
        while offset + 8 <= bytes.count {
            let length = Int(Self.word(bytes, offset))
            guard length > 0, length <= bytes.count - offset - 8 else { break }
            let payload = bytes[offset + 8..<offset + 8 + length]
            guard payload.withUnsafeBytes(Checksum.of) == Self.word(bytes, offset + 4),
                let mutation = try? MutationCoding.decode(payload),
                list.isEmpty || mutation.sequence == list[list.count - 1].sequence + 1
            else { break }
            list.append(mutation)
            offset += 8 + length
        }
        return list
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32($1 * 8) }
    }

    /// Adds the mutation's record, as it stands in a file.
    static func append(_ mutation: borrowing Mutation, to writer: inout ByteWriter) {
        let start = writer.count
        writer.putFixed(0)
        MutationCoding.encode(mutation, &writer)
        let payload = start + 8
        writer.set(UInt32(writer.count - payload), at: start)
        writer.set(writer.withBytes(from: payload, Checksum.of), at: start + 4)
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

    /// Makes the written records survive power loss.
    package func synchronize() throws(Errno) {
        try withFile(current) { (file) throws(Errno) in try file.synchronizeData() }
    }

    /// Goes on in the other file, from its start. The full one is made durable first.
    package func rotate() throws(Errno) {
        try synchronize()
        current = 1 - current
        fills[current] = Fill()
    }
}
