internal import Glibc
package import SystemCalls

/// Putting another content in the place of a document's, of any size.
package enum ContentCopy {
    private static let chunk = 1 << 20

    /// Whether two files hold the same bytes.
    package static func isSame(
        _ one: borrowing OwnedDescriptor, _ other: borrowing OwnedDescriptor
    ) throws(Errno) -> Bool {
        if try one.status().st_size != other.status().st_size { return false }
        var first = [UInt8](repeating: 0, count: chunk)
        var second = first
        let size = Int64(try one.status().st_size)
        var offset: Int64 = 0
        while true {
            offset = min(
                try data(in: one, from: offset, size), try data(in: other, from: offset, size))
            let count = try one.read(into: &first, at: offset)
            if try other.read(into: &second, at: offset) != count { return false }
            if first[..<count] != second[..<count] { return false }
            if count < chunk { return true }
            offset += Int64(count)
        }
    }

    /// Makes a content that of a document in a mount, as a draft where that can be. The close publishes it.
    package static func write(
        _ source: borrowing OwnedDescriptor, over target: borrowing OwnedDescriptor
    ) throws(Errno) {
        let size = Int64(try source.status().st_size)
        try MountDraft.write(target) { (isDraft) throws(Errno) in
            if isDraft {
                try copyData(source, target, size: size)
            } else {
                try copyWhole(source, target, size: size)
            }
        }
    }

    /// Takes the room first: a disk that is full half-way would leave half a document.
    package static func makeRoom(for size: Int64, _ file: borrowing OwnedDescriptor) throws(Errno) {
        try WholeFile.checkLength(Int(size))
        let former = try file.status().st_size
        guard size > former else { return }
        let result = posix_fallocate(file.number, 0, off_t(size))
        if result == 0 { return }
        ftruncate(file.number, former)
        throw Errno(result)
    }

    /// Writes what there is between the holes of a content; as a draft, which can end half-way.
    private static func copyData(
        _ source: borrowing OwnedDescriptor, _ target: borrowing OwnedDescriptor, size: Int64
    ) throws(Errno) {
        try WholeFile.checkLength(Int(size))
        _ = try check { ftruncate(target.number, 0) }
        _ = try check { ftruncate(target.number, off_t(size)) }
        var bytes = [UInt8](repeating: 0, count: chunk)
        var offset = try data(in: source, from: 0, size)
        while offset < size {
            let count = try source.read(into: &bytes, at: offset)
            if count == 0 { throw Errno(EIO) }
            if bytes[..<count].contains(where: { $0 != 0 }) {
                try target.write(Array(bytes[..<count]), at: offset)
            }
            offset = try data(in: source, from: offset + Int64(count), size)
        }
    }

    /// Where there are bytes again; `size` if there are none.
    private static func data(
        in file: borrowing OwnedDescriptor, from offset: Int64, _ size: Int64
    ) throws(Errno) -> Int64 {
        do throws(Errno) { return try file.seek(data: true, from: offset) } catch {
            switch error.code {
            case ENXIO: return size
            // A file system that knows of no holes.
            case EINVAL, ENOTSUP, ENOSYS: return offset
            default: throw error
            }
        }
    }

    /// Writes a content over the document. Signals that end the process wait until it is whole.
    private static func copyWhole(
        _ source: borrowing OwnedDescriptor, _ target: borrowing OwnedDescriptor, size: Int64
    ) throws(Errno) {
        try makeRoom(for: size, target)
        try WholeFile.holdingSignals { () throws(Errno) in
            try WholeFile.copy(source, to: target, size: size)
            _ = try check { ftruncate(target.number, off_t(size)) }
        }
    }
}
