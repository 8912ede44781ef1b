internal import Glibc
internal import Probing

/// A directory of a test's own.
package enum TemporaryDirectory {
    /// Makes one below `parent`, open to all users for walking through it.
    package static func make(below parent: String? = nil) throws -> String {
        let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/shapeedit-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw TestSetupFailure("mkdtemp in \(parent): \(errorName(errno))")
        }
        let path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(path, 0o755)
        return path
    }

    /// Removes one with all below it, but never through a mount.
    package static func remove(_ path: String) {
        _ = try? run(["chattr", "-R", "-i", path])
        _ = try? run(["rm", "-rf", "--one-file-system", path])
    }
}
