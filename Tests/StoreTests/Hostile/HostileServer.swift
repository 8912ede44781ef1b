import Glibc
import SystemCalls

/// A server in this process that answers every request in whatever way a test wants.
final class HostileServer: Sendable {
    /// What is done with one connection: it is given the request's head and writes what it likes; the
    /// connection is closed when it returns.
    typealias Behaviour = @Sendable (_ connection: HostileConnection) -> Void

    let port: Int
    private let listener: Int32
    private let count = Lock(0)

    /// - Parameter isTunnel: the behaviour reads from the first byte on, and not what follows a head.
    init(isTunnel: Bool = false, _ behaviour: @escaping Behaviour) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) + listen(listener, 64) + getsockname(listener, $0, &size)
            }
        }
        guard result == 0 else { throw Errno.last }
        port = Int(UInt16(bigEndian: address.sin_port))
        let count = count
        Threads.start("hostile") {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    // Here: closed earlier, its number could be that of the next server's.
                    close(listener)
                    return
                }
                count.withLock { $0 += 1 }
                Threads.start("hostile") {
                    let connection = HostileConnection(descriptor)
                    if isTunnel || connection.readHead() { behaviour(connection) }
                    connection.end()
                }
            }
        }
    }

    /// The thread that accepts closes the socket.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Connections so far.
    var connections: Int { count.withLock { $0 } }
}

/// One connection of a hostile server. Used by one thread.
final class HostileConnection {
    private let descriptor: Int32
    private(set) var head = ""
    private var isReset = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The request's method.
    var method: String { String(head.prefix { $0 != " " }) }

    /// The size of the request's body, in bytes.
    var bodySize: Int {
        let fields = head.lowercased().split(separator: "\r\n")
        let field = fields.first { $0.hasPrefix("content-length: ") }
        return field.flatMap { Int($0.dropFirst(16)) } ?? 0
    }

    /// Reads the next request's head; `false` if there is none.
    func readHead() -> Bool {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard read(descriptor, &byte, 1) == 1 else { return false }
            bytes.append(byte)
        }
        head = String(decoding: bytes, as: UTF8.self)
        return true
    }

    /// Reads so many bytes; fewer if there are no more.
    func take(_ count: Int) -> [UInt8] {
        // It would be waited for.
        if count == 0 { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let found = recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
        return Array(bytes.prefix(max(found, 0)))
    }

    /// Plays a SOCKS 5 proxy up to where the tunnel is open; the name it is to lead to.
    func openTunnel() -> String? {
        let greeting = take(2)
        guard greeting.count == 2, greeting[0] == 5,
            take(Int(greeting[1])).count == Int(greeting[1])
        else { return nil }
        send([5, 0])
        // Connect, to a name.
        let request = take(5)
        guard request.count == 5, request.prefix(4) == [5, 1, 0, 3] else { return nil }
        let name = take(Int(request[4]))
        _ = take(2)
        send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        return String(decoding: name, as: UTF8.self)
    }

    /// Writes; `false` when the other side is gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done,
                    Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            done += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// A whole answer.
    func answer(_ status: String, _ fields: [String] = [], _ body: [UInt8] = []) {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields
        send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
        if method != "HEAD" { send(body) }
    }

    /// Breaks the connection off with a reset.
    func reset() {
        isReset = true
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes it. What the other side has sent is read first: else that would be told of a reset, perhaps
    /// before it has read the answer.
    func end() {
        if !isReset {
            shutdown(descriptor, Int32(SHUT_WR))
            var patience = timeval(tv_sec: 1, tv_usec: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience,
                socklen_t(MemoryLayout<timeval>.size))
            while !take(4_096).isEmpty {}
        }
        close(descriptor)
    }

    func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }
}
