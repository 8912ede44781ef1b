import Glibc
import Probing
import TestSupport
import Testing

/// Runs `body` with a volume of a container whose store is an Apache of its own. The test is
/// skipped, saying why, where there is none.
func withFrozenServer(
    options: [String] = [], _ body: (Volume, ServerProcess) throws -> Void
) throws {
    let server: ServerProcess
    do { server = try ServerProcess("webdav", name: "frozen") } catch {
        if getenv("SHAPEEDIT_REQUIRE_SERVERS") != nil { throw error }
        try Test.cancel("no server: \(error)")
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory.make()
    defer { TemporaryDirectory.remove(folder) }
    let netrc = "\(folder)/netrc"
    _ = try run([
        "sh", "-c",
        "echo machine 127.0.0.1 login shape password edit > \(netrc); chmod 600 \(netrc)",
    ])
    let address = "dav://127.0.0.1:\(server.words[0])/basic/store?netrc=\(netrc)"
    try withVolume(.passthrough, store: address, options: options) { volume in
        try body(volume, server)
        try server.signal("CONT")
    }
}
