internal import Glibc
internal import SystemCalls

/// A text that is replaced as a whole, and durable then.
enum SmallFile {
    /// What the name of a replacement that is not finished ends with.
    private static let suffix = ".new"
    /// In bytes; nothing that is written here comes near.
    private static let limit = 1 << 30

    /// The text; empty if there is none.
    static func text(_ path: String) -> String {
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY),
            let bytes = try? WholeFile.read(file, limit: Self.limit)
        else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func replace(_ path: String, _ text: String) throws(Errno) {
        let file = try OwnedDescriptor.openOwn(path + suffix, O_WRONLY | O_TRUNC)
        try file.write(Array(text.utf8), at: 0)
        try file.synchronizeData()
        try check { rename(path + suffix, path) }
        try Directories.synchronize(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }
}
