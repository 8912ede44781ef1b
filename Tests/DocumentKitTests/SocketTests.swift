import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import Varlink

/// The socket that a mount is asked by.
@Suite struct SocketTests {
    @Test func `a socket is its owner's, and what others make meanwhile is as they want it`() throws
    {
        let base = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(base) }
        let modes = Monitor((isWanted: true, isDone: false, found: Set<UInt32>()))
        Threads.start("makes folders") {
            var found: Set<UInt32> = []
            while modes.withLock({ $0.isWanted }) {
                mkdir(base + "/made", 0o700)
                found.insert(Self.mode(base + "/made"))
                rmdir(base + "/made")
            }
            modes.signal { $0 = (false, true, found) }
        }
        for _ in 0..<2_000 {
            let socket = try UnixSocket.listen(at: base + "/sockets/one")
            #expect(Self.mode(base + "/sockets/one") == 0o600)
            withExtendedLifetime(socket.number) {}
        }
        modes.withLock { $0.isWanted = false }
        let found = modes.wait { $0.isDone ? $0.found : nil }
        #expect(found == [0o700])
    }

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}
