internal import Glibc
internal import SystemCalls

/// What bubblewrap tells of itself while it runs a command, which cannot write here: so its own failures
/// are told from those of the command, which have the same codes.
final class SandboxReport: Sendable {
    private let reader: OwnedDescriptor
    /// For bubblewrap's `--json-status-fd`.
    let writer: OwnedDescriptor

    init() throws(Errno) {
        let ends = try Descriptors.socketPair()
        reader = OwnedDescriptor(adopting: ends.0)
        writer = OwnedDescriptor(adopting: ends.1)
    }

    /// Whether the command was started and has ended, once bubblewrap has. Does not wait.
    var tellsOfCommand: Bool {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 1_024)
        while true {
            let count = recv(reader.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count <= 0 { break }
            text += bytes[..<count]
        }
        return String(decoding: text, as: UTF8.self).contains("\"exit-code\"")
    }
}
