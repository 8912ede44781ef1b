internal import Glibc
internal import PathText
internal import Stores
internal import SystemCalls

/// A text that is replaced as a whole, and durable then. What the disk fails at is of kind
/// ``StoreError/Kind/local``, and tried again like what a store fails at.
enum SmallFile {
    /// What the name of a replacement that is not finished ends with.
    private static let suffix = ".new"
    /// In bytes; nothing that is written here comes near.
    private static let limit = 1 << 30

    /// The text; empty if there is none. One that cannot be read for a moment is not taken for none.
    static func text(_ path: String) throws(StoreError) -> String {
        let file: OwnedDescriptor
        do throws(Errno) { file = try OwnedDescriptor.open(path, O_RDONLY) } catch {
            if error.code == ENOENT { return "" }
            throw problem(path, error)
        }
        do throws(Errno) {
            return String(decoding: try WholeFile.read(file, limit: Self.limit), as: UTF8.self)
        } catch { throw problem(path, error) }
    }

    static func replace(_ path: String, _ text: String) throws(StoreError) {
        do throws(Errno) {
            let file = try OwnedDescriptor.openOwn(path + suffix, O_WRONLY | O_TRUNC)
            try file.write(Array(text.utf8), at: 0)
            try file.synchronizeData()
            try check { rename((path + suffix).cPath, path.cPath) }
            try Directories.synchronize(
                String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        } catch { throw problem(path, error) }
    }

    static func problem(_ path: String, _ error: Errno) -> StoreError {
        StoreError(.local, at: path, "\(error)")
    }
}
