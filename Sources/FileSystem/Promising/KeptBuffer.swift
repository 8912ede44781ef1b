internal import CFuseShim
internal import Glibc
internal import SystemCalls

/// The bytes of a WRITE that has to wait.
final class KeptBuffer: @unchecked Sendable {
    // Unchecked because the memory is written only here, before anybody else has it.
    private let memory: UnsafeMutableRawPointer
    private let count: Int

    init(_ buffer: UnsafeMutablePointer<fuse_bufvec>) {
        let size = fuse_buf_size(buffer)
        memory = .allocate(byteCount: max(size, 1), alignment: 16)
        count = max(0, shim_read_buffer(buffer, memory, size))
    }

    deinit { memory.deallocate() }

    /// Shows the bytes as libfuse does.
    func with<Result>(
        _ body: (UnsafeMutablePointer<fuse_bufvec>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let pointer = UnsafeMutablePointer<fuse_bufvec>.allocate(capacity: 1)
        defer { pointer.deallocate() }
        shim_memory_buffer(pointer, memory, count)
        return try body(pointer)
    }
}
