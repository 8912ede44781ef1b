import Glibc
import Probing
import TestSupport

/// A real SSH server on 127.0.0.1 while this exists, and what reaches it.
final class SecureShell {
    private let folder: String
    private let port: UInt16
    private let server: RunningProgram

    /// Root only: the server finds the user's keys by a list of users made for the test.
    static var isInstalled: Bool {
        TestSupport.isInstalled("ssh") && TestSupport.isInstalled("dropbear") && geteuid() == 0
    }

    /// Starts one with keys of its own in a folder.
    init(in folder: String) throws {
        self.folder = folder
        let keys = """
            ssh-keygen -q -t ed25519 -N '' -f user && dropbearkey -t ed25519 -f host &&
            mkdir -m 700 .ssh && cp user.pub .ssh/authorized_keys && chmod go-w . &&
            echo "root:x:0:0:root:$PWD:/bin/sh" > users
            """
        let result = try run(["sh", "-c", keys], directory: folder)
        guard result.status == 0 else { throw TestSetupFailure("keys: \(result)") }
        port = try Self.freePort()
        let serving = """
            mount --bind users /etc/passwd &&
            exec dropbear -F -E -s -r "$PWD/host" -p 127.0.0.1:\(port) -P ''
            """
        server = try RunningProgram(
            ["unshare", "-m", "sh", "-c", serving].map { Array($0.utf8) }, directory: folder)
    }

    deinit {
        server.kill(signal: SIGKILL, group: true)
        _ = server.wait(seconds: 10)
    }

    /// The words that run a line of shell on the other side, on a terminal there. They try again
    /// until the server listens.
    func words(for line: String) -> [String] {
        [
            "ssh", "-tt", "-F", "none", "-i", "\(folder)/user", "-p", "\(port)",
            "-o", "ConnectionAttempts=60", "-o", "StrictHostKeyChecking=no",
            "-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes",
            "-o", "LogLevel=ERROR", "root@127.0.0.1", line,
        ]
    }

    /// A port that nobody listens on now.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw TestSetupFailure("no port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
