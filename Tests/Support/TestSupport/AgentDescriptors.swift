internal import CKernel
internal import Glibc
internal import Probing
package import Testing

/// A descriptor of an agent's process; -1 where opening failed.
package struct Descriptor: Sendable, Hashable {
    /// The kernel's number for it.
    package let number: Int

    /// Names a descriptor by its number.
    package init(_ number: Int) {
        self.number = number
    }
}

extension Agent {
    /// open(2).
    @discardableResult
    package func open(
        _ path: ByteString, _ flags: Int32, mode: Int = 0o644, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> Descriptor {
        let reply = call(
            "open \(path) flags 0\(String(flags, radix: 8))", SYS_openat,
            [
                .integer(Int(AT_FDCWD)), .input(path.bytes), .integer(Int(flags)), .integer(mode),
            ], fails: fails, at: location)
        return Descriptor(reply.result < 0 ? -1 : reply.result)
    }

    /// open(2) without waiting for its end.
    package func beginOpen(_ path: ByteString, _ flags: Int32) {
        begin(
            "open \(path)",
            .call(
                number: Int(SYS_openat),
                arguments: [
                    .integer(Int(AT_FDCWD)), .input(path.bytes), .integer(Int(flags)),
                    .integer(0o644),
                ], onNewThread: false))
    }

    /// close(2).
    package func close(
        _ descriptor: Descriptor, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "close", SYS_close, [.integer(descriptor.number)], fails: fails, at: location)
    }

    /// fcntl(2) with F_SETFL.
    package func setFlags(
        _ descriptor: Descriptor, _ flags: Int32, at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "F_SETFL", Int32(SYS_fcntl),
            [.integer(descriptor.number), .integer(Int(F_SETFL)), .integer(Int(flags))], fails: [],
            at: location)
    }

    /// write(2); what it returned.
    @discardableResult
    package func write(
        _ descriptor: Descriptor, _ content: ByteString, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> Int {
        call(
            "write \(content.count) bytes", SYS_write,
            [.integer(descriptor.number), .input(content.bytes), .integer(content.count)],
            fails: fails, at: location
        ).result
    }

    /// write(2) without waiting for its end.
    package func beginWrite(_ descriptor: Descriptor, _ content: ByteString) {
        begin(
            "write \(content.count) bytes",
            .call(
                number: Int(SYS_write),
                arguments: [
                    .integer(descriptor.number), .input(content.bytes), .integer(content.count),
                ], onNewThread: false))
    }

    /// pwrite(2); what it returned.
    @discardableResult
    package func write(
        _ descriptor: Descriptor, _ content: ByteString, offset: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> Int {
        call(
            "pwrite \(content.count) bytes at \(offset)", SYS_pwrite64,
            [
                .integer(descriptor.number), .input(content.bytes), .integer(content.count),
                .integer(offset),
            ], fails: fails, at: location
        ).result
    }

    /// read(2), once.
    @discardableResult
    package func read(
        _ descriptor: Descriptor, count: Int = 1 << 20, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let reply = call(
            "read", SYS_read,
            [.integer(descriptor.number), .output(count), .integer(count)], fails: fails,
            at: location)
        return ByteString(Array((reply.buffers.first ?? []).prefix(max(0, reply.result))))
    }

    /// pread(2), once.
    @discardableResult
    package func read(
        _ descriptor: Descriptor, count: Int = 1 << 20, offset: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let reply = call(
            "pread at \(offset)", SYS_pread64,
            [
                .integer(descriptor.number), .output(count), .integer(count), .integer(offset),
            ], fails: fails, at: location)
        return ByteString(Array((reply.buffers.first ?? []).prefix(max(0, reply.result))))
    }

    /// lseek(2); the new position.
    @discardableResult
    package func seek(
        _ descriptor: Descriptor, _ offset: Int, _ whence: Int = Int(SEEK_SET), fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> Int {
        call(
            "lseek \(offset) whence \(whence)", SYS_lseek,
            [.integer(descriptor.number), .integer(offset), .integer(whence)], fails: fails,
            at: location
        ).result
    }

    /// readahead(2), as posix_fadvise(2) with POSIX_FADV_WILLNEED does it too.
    package func readAhead(
        _ descriptor: Descriptor, count: Int, at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "readahead", SYS_readahead,
            [.integer(descriptor.number), .integer(0), .integer(count)], fails: [], at: location)
    }

    /// dup(2).
    package func duplicate(
        _ descriptor: Descriptor, at location: SourceLocation = #_sourceLocation
    ) -> Descriptor {
        Descriptor(
            call("dup", SYS_dup, [.integer(descriptor.number)], fails: [], at: location).result)
    }

    /// ftruncate(2).
    package func truncate(
        _ descriptor: Descriptor, size: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "ftruncate to \(size)", SYS_ftruncate,
            [.integer(descriptor.number), .integer(size)], fails: fails, at: location)
    }

    /// ftruncate(2) without waiting for its end.
    package func beginTruncate(_ descriptor: Descriptor, size: Int) {
        begin(
            "ftruncate to \(size)",
            .call(
                number: Int(SYS_ftruncate),
                arguments: [.integer(descriptor.number), .integer(size)], onNewThread: false))
    }

    /// fsync(2), or fdatasync(2).
    package func synchronize(
        _ descriptor: Descriptor, dataOnly: Bool = false, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "fsync", dataOnly ? SYS_fdatasync : SYS_fsync, [.integer(descriptor.number)],
            fails: fails, at: location)
    }

    /// fallocate(2) with its modes; fails with EOPNOTSUPP where ext4 has a mode and the disk not.
    package func allocate(
        _ descriptor: Descriptor, mode: Int32 = 0, offset: Int, length: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "fallocate mode \(mode) at \(offset) for \(length)", SYS_fallocate,
            [
                .integer(descriptor.number), .integer(Int(mode)), .integer(offset),
                .integer(length),
            ], fails: fails, at: location)
    }

    /// copy_file_range(2) between the descriptors' positions; what it returned.
    @discardableResult
    package func copyRange(
        from source: Descriptor, to target: Descriptor, count: Int, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> Int {
        call(
            "copy_file_range of \(count)", SYS_copy_file_range,
            [
                .integer(source.number), .integer(0), .integer(target.number), .integer(0),
                .integer(count), .integer(0),
            ], fails: fails, at: location
        ).result
    }

    /// sendfile(2) from a position; how many bytes it moved. Reads through the page cache.
    @discardableResult
    package func sendFile(
        from source: Descriptor, offset: Int = 0, to target: Descriptor, count: Int,
        fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) -> Int {
        let position = withUnsafeBytes(of: Int64(offset)) { Array($0) }
        return call(
            "sendfile of \(count) at \(offset)", SYS_sendfile,
            [
                .integer(target.number), .integer(source.number), .both(position),
                .integer(count),
            ], fails: fails, at: location
        ).result
    }

    // MARK: Whole files

    /// Everything from the position of a descriptor to the end.
    package func readToEnd(
        _ descriptor: Descriptor, pieces: Int = 1 << 20,
        at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        var all: [UInt8] = []
        while true {
            let piece = read(descriptor, count: pieces, at: location)
            if piece.count == 0 { return ByteString(all) }
            all += piece.bytes
        }
    }

    /// Opens a file, reads all of it and closes it.
    package func content(
        _ path: ByteString, at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let descriptor = open(path, O_RDONLY, at: location)
        guard descriptor.number >= 0 else { return "could not be opened" }
        defer { close(descriptor, at: location) }
        return readToEnd(descriptor, at: location)
    }

    /// Makes a file of this content, or replaces the content of one, in one write.
    package func store(
        _ path: ByteString, _ content: ByteString, mode: Int = 0o644,
        at location: SourceLocation = #_sourceLocation
    ) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: mode, at: location)
        guard descriptor.number >= 0 else { return }
        if content.count > 0 { write(descriptor, content, at: location) }
        close(descriptor, at: location)
    }
}
