internal import Glibc
internal import Probing
internal import Testing

/// A server that a script of Scripts/servers runs for this test program. It ends by itself when this
/// program does, because its standard input, one end of a pair of sockets, ends then.
package final class ServerProcess: @unchecked Sendable {
    // Unchecked because everything is set in `init`.
    /// The words after "ready".
    package let words: [String]
    /// Where it serves; its processes have it in their arguments.
    package let folder: String
    private let program: RunningProgram
    private let connection: Int32

    /// Why a server is not there.
    package struct Missing: Error, CustomStringConvertible { package let description: String }

    /// Starts one of its own. `name` tells it from others of the same script; the `arguments` come
    /// behind the folder.
    package init(_ script: String, name: String = "shared", _ arguments: [String] = []) throws {
        // This file is Tests/Support/TestSupport/ServerProcess.swift.
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
            .joined(separator: "/")
        let ends = try SocketPair()
        connection = ends.ours
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        folder = "\(parent)/shapeedit-\(script)-\(name)-\(getpid())"
        program = try RunningProgram(
            (["\(root)/Scripts/servers/\(script)", folder] + arguments).map { Array($0.utf8) },
            input: ends.theirs, output: ends.theirs)
        ends.closeTheirs()
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(connection, &byte, 1) == 1, byte != 0x0a { line.append(byte) }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard words.first == "ready" else {
            close(connection)
            let result = program.wait(seconds: 10)
            throw Missing(description: "\(script): \(result)")
        }
        self.words = Array(words.dropFirst())
    }

    /// Sends a signal to all processes of the server.
    package func signal(_ name: String) throws {
        // Twice: one that is made while they are looked for is missed. Who makes them is stopped then.
        for _ in 0..<2 { _ = try run(["pkill", "-\(name)", "-f", folder]) }
    }

    /// Ends it, also if it was stopped.
    package func stop() {
        _ = try? signal("CONT")
        close(connection)
        _ = program.wait(seconds: 20)
    }

    /// Swift's S3: endpoint, identity, secret.
    package static let s3 = shared("s3")
    /// Ceph's S3: endpoint, identity, secret.
    package static let rgw = shared("rgw")
    /// Apache's WebDAV: port, TLS port, user, password, certificate.
    package static let webDAV = shared("webdav")

    /// rclone's WebDAV, which knows no conditions: port, user, password.
    package static let rclone = shared("rclone")

    private static func shared(_ script: String) -> Result<ServerProcess, any Error> {
        let server = Result { try ServerProcess(script) }
        // Nobody else tells which cases of a test are left out.
        if case .failure(let problem) = server { print("There is no server \(problem)") }
        return server
    }

    /// The words of a running server; skips the test, saying why, if it cannot be had here.
    package static func words(_ server: Result<ServerProcess, any Error>) throws -> [String] {
        switch server {
        case .success(let server): return server.words
        case .failure(let error):
            // In a run that must be complete a missing server is a failure.
            if getenv("SHAPEEDIT_REQUIRE_SERVERS") != nil { throw error }
            try Test.cancel("no server: \(error)")
        }
    }
}
