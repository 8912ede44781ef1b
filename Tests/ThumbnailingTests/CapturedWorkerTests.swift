import CWorkerShim
import Glibc
import Testing

/// What a worker can do that a hostile document has taken over.
@Suite struct CapturedWorkerTests {
    /// Two descriptors as they are sent with a message: into the space for one of them, which is
    /// rounded up, both fit.
    private struct Descriptors {
        var length = MemoryLayout<Descriptors>.size
        var level: Int32 = SOL_SOCKET
        /// SCM_RIGHTS
        var type: Int32 = 1
        var first: Int32
        var second: Int32
    }

    @Test func `descriptors that it sends do not stay open`() throws {
        var sockets: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        defer { for socket in sockets { close(socket) } }
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var descriptors = Descriptors(first: ends[0], second: ends[1])
        var byte: UInt8 = 7
        let sent = withUnsafeMutableBytes(of: &descriptors) { control in
            withUnsafeMutableBytes(of: &byte) { bytes in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(sockets[0], &message, 0)
                }
            }
        }
        try #require(sent == 1)
        var taken: Int32 = -1
        byte = 0
        let received = shim_receive(sockets[1], &byte, 1, &taken)
        #expect(received == 1 && byte == 7)
        if taken >= 0 { close(taken) }
        #expect(try openCount(of: ends[0]) == 2)
    }

    /// How many descriptors of this process lead to a pipe.
    private func openCount(of pipe: Int32) throws -> Int {
        var wanted = stat()
        try #require(fstat(pipe, &wanted) == 0)
        return (0..<Int32(4_096)).count { descriptor in
            var found = stat()
            return fstat(descriptor, &found) == 0 && found.st_ino == wanted.st_ino
                && found.st_dev == wanted.st_dev
        }
    }

    /// What a confined thread was answered to what it asked of its descriptors.
    private final class Attempts: @unchecked Sendable {
        let asks: @Sendable () -> [Int32]
        var isConfined = false
        var answers: [Int32] = []

        init(_ asks: @escaping @Sendable () -> [Int32]) { self.asks = asks }

        func make() {
            // For this thread alone, which ends afterwards.
            isConfined = shim_no_new_privileges() == 0 && shim_seccomp() == 0
            answers = asks()
        }
    }

    /// What a confined thread is answered. Where the kernel has no filters there is nothing to be seen.
    private func answers(_ asks: @escaping @Sendable () -> [Int32]) throws -> [Int32] {
        let attempts = Attempts(asks)
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { argument in
                argument.map { Unmanaged<Attempts>.fromOpaque($0).takeUnretainedValue().make() }
                return nil
            }, Unmanaged.passUnretained(attempts).toOpaque())
        try #require(started == 0)
        pthread_join(thread, nil)
        if !attempts.isConfined { try Test.cancel("no filter can be set") }
        return attempts.answers
    }

    @Test func `it has no signal sent to others by way of its socket`() throws {
        var sockets: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        defer { for socket in sockets { close(socket) } }
        let socket = sockets[0]
        // F_SETSIG and F_SETOWN
        let found = try answers {
            [fcntl(socket, F_GETFL, 0), fcntl(socket, 10, 0), fcntl(socket, 8, getpid())]
        }
        #expect(found[0] >= 0)
        #expect(found[1] == -1)
        #expect(found[2] == -1)
    }

    @Test func `it takes no lease of a document, for which others would wait`() throws {
        var template = Array("/tmp/shapeedit-lease.XXXXXX".utf8CString)
        let written = mkstemp(&template)
        try #require(written >= 0)
        defer { unlink(template) }
        close(written)
        let file = open(template, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        // F_SETLEASE
        let setLease: Int32 = 1_024
        try #require(fcntl(file, setLease, F_RDLCK) == 0, "this disk knows no leases")
        #expect(fcntl(file, setLease, F_UNLCK) == 0)
        let found = try answers { [fcntl(file, setLease, F_RDLCK), fcntl(file, F_GETFL, 0)] }
        #expect(found[0] == -1)
        #expect(found[1] >= 0)
    }
}
