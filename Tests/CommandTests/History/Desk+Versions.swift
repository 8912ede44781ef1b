import Glibc
import Testing

/// The versions of documents in a mount.
extension Desk {
    /// The document's versions as `versions --json` prints them, oldest first.
    func versions(_ file: String) throws -> [JSONValue] {
        try JSONValue.read(try run("versions", file, "--json"))["versions"]?.elements ?? []
    }

    /// Their names, oldest first.
    func versionNames(_ file: String) throws -> [String] {
        try versions(file).compactMap { $0["version"]?.text }
    }

    /// Waits until the rule has looked at the versions that the document has now.
    ///
    /// Saves it twice in a row for that, and waits for the first of the two to go.
    func letRetentionLook(at file: String) throws {
        let passing = String(repeating: "passing", count: 99)
        for round in 0..<100 {
            // Again now and then: one that is being drawn at that moment is passed over.
            if round % 20 == 0 {
                try shell("printf \(passing) > \(file); printf last > \(file)")
            }
            let sizes = try versions(file).map { $0["size"] }
            if !sizes.contains(.number(Double(passing.utf8.count))) { return }
            usleep(300_000)
        }
        Issue.record("\(file): a save that was replaced at once is still there")
    }
}
