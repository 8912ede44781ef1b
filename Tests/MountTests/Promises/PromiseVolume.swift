import Glibc
import Probing
import TestSupport
import Testing

/// A volume of a container with a store, and what tests of promises do with it.
extension Volume {
    /// The bytes that came from the store since the mount.
    func fetchedBytes() throws -> Int { try #require(try container?.status().fetchedBytes) }

    /// A CLI command in the volume's directory.
    @discardableResult
    func shapeedit(
        _ words: String..., fails status: Int32 = 0, at location: SourceLocation = #_sourceLocation
    ) throws -> ProgramResult {
        let result = try command(words)
        #expect(result.status == Int(status), "\(words): \(result)", sourceLocation: location)
        return result
    }

    /// What a CLI command comes to.
    func outcome(_ words: String...) throws -> ProgramResult { try command(words) }

    private func command(_ words: [String]) throws -> ProgramResult {
        let container = try #require(container)
        // Commands take paths from the volume's directory.
        let places = words.map { word in
            word.hasPrefix("@") ? "\(directory)/\(word.dropFirst())" : word
        }
        return try container.command(places)
    }

    /// Waits until everything that was written is in the store.
    func settle(at location: SourceLocation = #_sourceLocation) throws {
        // fsync of a published version seals it at once.
        _ = try self.run("sh", "-c", "find . -type f -exec sync {} +")
        for _ in 0..<1200 {
            let left = try self.run(
                "sh", "-c",
                "find . -type f -exec getfattr -n user.shapeedit.state {} + | grep dirty")
            if left.text.isEmpty { return }
            usleep(50_000)
        }
        Issue.record("not everything was uploaded", sourceLocation: location)
    }

    /// Makes promises of everything that was written.
    func evictAll(at location: SourceLocation = #_sourceLocation) throws {
        try settle(at: location)
        try shapeedit("evict", "@.", at: location)
    }

    /// What `user.shapeedit.state` says.
    func state(_ name: String) throws -> String {
        try run("getfattr", "--only-values", "-n", "user.shapeedit.state", name).text
    }

    /// The blobs that the store's folder has, and those in the container's.
    func blobs() throws -> (store: [String], local: [String]) {
        let container = try #require(container)
        func list(_ path: String) throws -> [String] {
            // But the mark of who owns the store, and what is on its way there.
            let found = try Probing.run([
                "find", path, "-type", "f", "-size", "+0", "!", "-name", "*-owner", "!", "-name",
                "*-joined",
                "!", "-path", "*/incoming/*",
            ])
            return found.text.split(separator: "\n").map(String.init)
        }
        return (try list(container.storeFolder), try list("\(container.folder)/blobs"))
    }
}

/// Data paths with and without passthrough, and as an ordinary user.
extension DataPath {
    static var ofPromises: [DataPath] { posixOfAllUsers.filter { $0 != .plain } }
}
