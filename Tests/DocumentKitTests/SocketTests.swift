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

    @Test func `a call that outlasts the end of its server still has the service`() throws {
        let base = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(base) }
        let calls = Calls()
        var service: SlowService? = SlowService(calls)
        let server = try VarlinkServer(at: base + "/socket", try #require(service))
        server.start()
        let client = try VarlinkClient(base + "/socket")
        try client.send(VarlinkCall("slow.Wait"))
        #expect(calls.wait { $0.isUnderWay })
        // It waits for its thread for some seconds, and no longer.
        server.stop()
        service = nil
        calls.change { $0.goesOn = true }
        #expect(calls.wait { $0.hasEnded })
    }

    /// Those whose sockets do not wait, as of programs with an event loop, were refused when 65 came at once.
    @Test func `many may connect at one moment`() throws {
        let base = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(base) }
        let calls = Calls()
        let service = SlowService(calls)
        let server = try VarlinkServer(at: base + "/socket", service)
        server.start()
        let client = try VarlinkClient(base + "/socket")
        try client.send(VarlinkCall("slow.Wait"))
        // The server takes nobody meanwhile.
        #expect(calls.wait { $0.isUnderWay })
        var others: [Int32] = []
        for _ in 0..<400 {
            let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            others.append(other)
            #expect(Self.connects(other, to: base + "/socket"), "\(others.count): \(Errno.last)")
        }
        for other in others { close(other) }
        calls.change { $0.goesOn = true }
        server.stop()
    }

    private static func connects(_ socket: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}

/// What a slow service is at.
private final class Calls: Sendable {
    struct State {
        var isUnderWay = false
        var goesOn = false
        var hasEnded = false
    }
    private let state = Monitor(State())

    func change(_ body: (inout State) -> Void) { state.signal { body(&$0) } }
    /// Whether it is so within a minute.
    func wait(_ isSo: (State) -> Bool) -> Bool {
        state.wait(until: MonotonicClock.after(milliseconds: 60_000)) { isSo($0) ? true : nil }
            ?? false
    }
}

/// Answers when it is let to.
private final class SlowService: VarlinkService {
    private let calls: Calls

    init(_ calls: Calls) { self.calls = calls }

    let interfaces = ["slow": ""]
    let product = (vendor: "", name: "", version: "", url: "")
    func refusal(_ limit: Int) -> VarlinkReply { VarlinkReply(error: "slow.No") }
    func handle(_ call: VarlinkCall, _ reply: VarlinkReplier) {
        calls.change { $0.isUnderWay = true }
        _ = calls.wait { $0.goesOn }
    }
    func ended(_ client: VarlinkClientID) { calls.change { $0.hasEnded = true } }
}
