internal import CKernel
internal import Glibc
internal import Probing
package import Testing

/// One name a directory lists.
package struct DirectoryEntry: Sendable, Hashable {
    /// The name.
    package let name: ByteString
    /// The inode number it gives.
    package let inode: UInt64
    /// DT_REG and so on.
    package let kind: UInt8
    /// Where the next entry is: what telldir(3) answers after this one.
    package let next: Int
}

extension Agent {
    /// mkdir(2).
    package func makeDirectory(
        _ path: ByteString, mode: Int = 0o755, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "mkdir \(path)", SYS_mkdirat,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .integer(mode)], fails: fails,
            at: location)
    }

    /// rmdir(2).
    package func removeDirectory(
        _ path: ByteString, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "rmdir \(path)", SYS_unlinkat,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .integer(Int(AT_REMOVEDIR))],
            fails: fails, at: location)
    }

    /// unlink(2).
    package func unlink(
        _ path: ByteString, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "unlink \(path)", SYS_unlinkat,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .integer(0)], fails: fails, at: location)
    }

    /// renameat2(2).
    package func rename(
        _ from: ByteString, _ to: ByteString, flags: Int = 0, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "rename \(from) to \(to) flags \(flags)", SYS_renameat2,
            [
                .integer(Int(AT_FDCWD)), .input(from.bytes), .integer(Int(AT_FDCWD)),
                .input(to.bytes), .integer(flags),
            ], fails: fails, at: location)
    }

    /// renameat2(2) without waiting for its end.
    package func beginRename(_ from: ByteString, _ to: ByteString) {
        begin(
            "rename \(from) to \(to)",
            .call(
                number: Int(SYS_renameat2),
                arguments: [
                    .integer(Int(AT_FDCWD)), .input(from.bytes), .integer(Int(AT_FDCWD)),
                    .input(to.bytes), .integer(0),
                ], onNewThread: false))
    }

    /// linkat(2).
    package func link(
        _ from: ByteString, _ to: ByteString, following: Bool = false, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "link \(from) as \(to)", SYS_linkat,
            [
                .integer(Int(AT_FDCWD)), .input(from.bytes), .integer(Int(AT_FDCWD)),
                .input(to.bytes), .integer(following ? Int(AT_SYMLINK_FOLLOW) : 0),
            ], fails: fails, at: location)
    }

    /// symlink(2).
    package func symlink(
        to target: ByteString, _ path: ByteString, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "symlink \(path)", SYS_symlinkat,
            [.input(target.bytes), .integer(Int(AT_FDCWD)), .input(path.bytes)], fails: fails,
            at: location)
    }

    /// readlink(2).
    @discardableResult
    package func readLink(
        _ path: ByteString, count: Int = 8192, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let reply = call(
            "readlink \(path)", SYS_readlinkat,
            [
                .integer(Int(AT_FDCWD)), .input(path.bytes), .output(count), .integer(count),
            ], fails: fails, at: location)
        return ByteString(Array((reply.buffers.first ?? []).prefix(max(0, reply.result))))
    }

    /// mknod(2); the mode has the type in it.
    package func makeNode(
        _ path: ByteString, mode: Int, device: Int = 0, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "mknod \(path) mode 0\(String(mode, radix: 8))", SYS_mknodat,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .integer(mode), .integer(device)],
            fails: fails, at: location)
    }

    /// chdir(2).
    package func changeDirectory(
        _ path: ByteString, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call("chdir \(path)", SYS_chdir, [.input(path.bytes)], fails: fails, at: location)
    }

    /// getdents64(2), once: what fits into `count` bytes; nothing at the end.
    package func nextEntries(
        _ directory: Descriptor, count: Int = 32 << 10, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> [DirectoryEntry] {
        let reply = call(
            "readdir", SYS_getdents64,
            [.integer(directory.number), .output(count), .integer(count)], fails: fails,
            at: location)
        guard reply.result > 0, let bytes = reply.buffers.first else { return [] }
        var entries: [DirectoryEntry] = []
        var start = 0
        bytes.withUnsafeBytes { raw in
            // struct linux_dirent64: inode (8), next (8), length (2), kind (1), name.
            while start + 19 < reply.result {
                let length = Int(raw.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self))
                let name = raw[(start + 19)..<(start + length)].prefix { $0 != 0 }
                entries.append(
                    DirectoryEntry(
                        name: ByteString(Array(name)),
                        inode: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self),
                        kind: raw[start + 18],
                        next: raw.loadUnaligned(fromByteOffset: start + 8, as: Int.self)))
                start += length
            }
        }
        return entries
    }

    /// All entries of a directory but `.` and `..`, in the order they came.
    package func entries(
        _ path: ByteString, buffer: Int = 32 << 10, at location: SourceLocation = #_sourceLocation
    ) -> [DirectoryEntry] {
        let directory = open(path, O_RDONLY | O_DIRECTORY, at: location)
        guard directory.number >= 0 else { return [] }
        defer { close(directory, at: location) }
        var all: [DirectoryEntry] = []
        while true {
            let some = nextEntries(directory, count: buffer, at: location)
            if some.isEmpty { return all.filter { $0.name != "." && $0.name != ".." } }
            all += some
        }
    }

    /// The names in a directory, sorted.
    package func names(
        _ path: ByteString, at location: SourceLocation = #_sourceLocation
    ) -> [String] {
        entries(path, at: location).map(\.name.text).sorted()
    }
}
