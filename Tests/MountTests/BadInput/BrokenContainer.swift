import Glibc
import Probing
import TestSupport
import Testing

/// A container with a few documents that is not mounted, for tests that break it.
final class BrokenContainer {
    /// The container.
    let container: Container
    /// The folder with its catalog and its blobs.
    let folder: String

    /// Makes one with documents `a`, `folder/b` and others of some 3000 bytes, which are called
    /// `f1` and so on, and unmounts it.
    init(others: Int) throws {
        container = try Container()
        folder = "\(container.dataHome)/shapeedit/containers/\(container.name)"
        do {
            try container.mount()
            let agent = try Agent(in: container.mountPoint)
            agent.store("a", "a's only content")
            agent.makeDirectory("folder")
            agent.store("folder/b", "b's only content")
            for number in 1...others {
                agent.store("f\(number)", ByteString(repeating: "x", count: 2800 + number))
            }
            agent.end()
            try container.unmount()
        } catch {
            container.remove()
            throw error
        }
    }

    /// Changes the folder by a line of shell, which starts in it.
    func damage(_ line: String) throws {
        let result = try run(["sh", "-c", "set -e; \(line)"], directory: folder)
        guard result.status == 0 else { throw TestSetupFailure("\(line): \(result)") }
    }

    /// The folder's files with their kinds, modes, sizes and hashes; not of the file `lock`, which
    /// says who had the container last.
    func listing() throws -> String {
        let result = try run(
            [
                "sh", "-c",
                "find . ! -name lock -printf '%P %y %m %s\\n' | sort; "
                    + "find . -type f ! -name lock -exec sha256sum {} + | sort",
            ], directory: folder)
        guard result.status == 0 else { throw TestSetupFailure("listing: \(result)") }
        return result.text
    }

    /// Mounts the container, lets `body` work in it, and unmounts it.
    func whileMounted(_ body: (Agent) throws -> Void) throws {
        try mount(for: body)
        try container.unmount()
    }

    /// Mounts the container, lets `body` work in it, and kills the daemon.
    func crash(_ body: (Agent) throws -> Void) throws {
        try mount(for: body)
        try container.killDaemon()
    }

    private func mount(for body: (Agent) throws -> Void) throws {
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        defer { agent.end() }
        try body(agent)
    }

    /// Checks and mounts the container: both have to refuse with this status, naming all of
    /// `words`.
    func expectNobodyOpens(
        status: Int32, saying words: String..., at location: SourceLocation = #_sourceLocation
    ) throws {
        for command in [["container", "check", "test"], ["mount", "test", container.mountPoint]] {
            let refused = try container.command(command)
            #expect(refused.status == Int(status), "\(refused)", sourceLocation: location)
            for word in words {
                #expect(refused.errorText.contains(word), "\(refused)", sourceLocation: location)
            }
        }
        #expect(!MountTable.isMounted(container.mountPoint), sourceLocation: location)
    }

    /// Runs the product, which has to refuse: with this status, naming all of `words` on its
    /// standard error, in at most three lines, and without changing anything in the folder.
    @discardableResult
    func expectRefusal(
        _ command: String..., status: Int32, saying words: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws -> ProgramResult {
        let before = try listing()
        let result = try container.command(command)
        let name = command.joined(separator: " ")
        #expect(result.status == Int(status), "\(name): \(result)", sourceLocation: location)
        for word in words {
            #expect(
                result.errorText.contains(word), "\(name) does not say \(word): \(result)",
                sourceLocation: location)
        }
        #expect(
            result.errors.split(separator: 10).count <= 3, "\(name): \(result)",
            sourceLocation: location)
        #expect(
            !result.errorText.contains("NAME"), "\(name) names nobody: \(result)",
            sourceLocation: location)
        #expect(
            try listing() == before, "\(name) changed the folder", sourceLocation: location)
        return result
    }

    /// The folder's blob of a content.
    func blob(of content: String) throws -> String {
        let result = try run(["sh", "-c", "printf %s \"$0\" | sha256sum | cut -c1-64", content])
        let hash = result.text.prefix(64)
        return "blobs/\(hash.prefix(2))/\(hash)"
    }

    /// Removes it.
    func remove() {
        container.remove()
    }
}

/// Gives a test a container to break, and takes it away whatever happens.
func withBrokenContainer(others: Int = 3, _ body: (BrokenContainer) throws -> Void) throws {
    let broken = try BrokenContainer(others: others)
    defer { broken.remove() }
    try body(broken)
}
