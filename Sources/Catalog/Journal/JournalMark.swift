internal import Glibc
internal import Model
internal import SystemCalls

/// Which record a ``Journal`` got last, in a file beside it.
///
/// A record that was overwritten, the last one or all, looks like one that was never written. The mark
/// tells them apart as long as the machine runs: it follows each write, that of a close when the close has
/// returned, so that no crash of the daemon leaves it ahead of the journal. After a loss of power it says nothing.
struct JournalMark: ~Copyable {
    /// What its file is called in the journal's folder.
    static let name = "last"

    private let file: OwnedDescriptor

    init(folder: String) throws(Errno) {
        file = try OwnedDescriptor.openOwn(folder + "/" + Self.name, O_RDWR)
    }

    /// The sequence of the last record; 0 if none was noted, or the file is not what was written there.
    func read() throws(Errno) -> ChangeSequence {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard try file.read(into: &bytes, at: 0) == bytes.count else { return 0 }
        let (sequence, complement) = bytes.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.load(as: UInt64.self)),
                UInt64(littleEndian: bytes.load(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return complement == ~sequence ? sequence : 0
    }

    /// Notes a record that was written. A full disk may keep that from being noted: then less is known
    /// about the journal, but nothing is wrong.
    func note(_ sequence: ChangeSequence) {
        withUnsafeBytes(of: (sequence.littleEndian, (~sequence).littleEndian)) { bytes in
            try? file.write(bytes, at: 0)
        }
    }
}
