internal import Glibc
internal import SystemCalls

/// A text that is replaced as a whole, and durable then.
enum SmallFile {
    /// What the name of a replacement that is not finished ends with.
    private static let suffix = ".new"
    /// In bytes; nothing that is written here comes near.
    private static let limit = 1 << 30

    /// The text; empty if there is none. One that cannot be read for a moment is not taken for none.
    static func text(_ path: String) throws(Errno) -> String {
        let file: OwnedDescriptor
        do throws(Errno) { file = try OwnedDescriptor.open(path, O_RDONLY) } catch {
            if error.code == ENOENT { return "" }
            throw error
        }
        return String(decoding: try WholeFile.read(file, limit: Self.limit), as: UTF8.self)
    }

    static func replace(_ path: String, _ text: String) throws(Errno) {
        let file = try OwnedDescriptor.openOwn(path + suffix, O_WRONLY | O_TRUNC)
        try file.write(Array(text.utf8), at: 0)
        try file.synchronizeData()
        try check { rename(path + suffix, path) }
        try Directories.synchronize(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }
}
