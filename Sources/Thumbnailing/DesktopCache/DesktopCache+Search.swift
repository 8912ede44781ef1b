internal import Glibc
internal import PathText
internal import SystemCalls

// What was left in the cache. In that of somebody with many pictures there may be hundreds of thousands of
// entries, of which most are of others.
extension DesktopCache {
    /// The address of the longest path and the other texts, which all stand before the picture, fit into this.
    static let headBytes = 16 << 10
    /// How old a file has to be to have been left by a process that cannot be seen here, in seconds.
    private static let abandonment = 3_600

    /// Looks through the whole cache, which takes a while, as long as `goesOn` says so. What was being written
    /// when its process ended goes, and so do such entries that nobody finds: those that were being moved then,
    /// with another address than that of their name.
    ///
    /// - Parameters:
    ///   - beginning: of the entries' ``Subject/version``.
    ///   - found: is shown the path of a file that has such entries, right or not, for each of them.
    package func search(
        forVersionsWith beginning: String, while goesOn: () -> Bool = { true },
        _ found: ([UInt8]) -> Void
    ) {
        var buffer = [UInt8](repeating: 0, count: Self.headBytes)
        for size in Size.allCases {
            let folder = "\(folder)/\(size.rawValue)"
            try? Directories.forEachName(in: folder) { name in
                guard goesOn() else { return false }
                let path = "\(folder)/\(name)"
                guard name.hasSuffix(".png") else {
                    if Self.isAbandoned(name, path) { unlink(path.cPath) }
                    return true
                }
                let texts = PNGFile.texts(ofBeginning: Self.head(path, &buffer))
                guard texts[Self.versionKey]?.hasPrefix(beginning) == true,
                    let address = texts[Self.addressKey],
                    let entry = try? FileURI.entryName(address)
                else { return true }
                if entry != name {
                    unlink(path.cPath)
                } else if let path = FileURI.path(ofAddress: address) {
                    found(path)
                }
                return true
            }
        }
    }

    /// Where entries begin; empty for what cannot be read.
    private static func head(_ path: String, _ buffer: inout [UInt8]) -> [UInt8] {
        guard
            let file = try? OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let count = try? file.read(into: &buffer, at: 0)
        else { return [] }
        return Array(buffer[..<count])
    }

    /// Whether an entry was being written here, `<entry>.<process>-<number>`, and nobody goes on with it.
    private static func isAbandoned(_ name: String, _ path: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 32, parts[1] == "png" else { return false }
        let numbers = parts[2].split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, UInt64(numbers[1]) != nil, let process = Int32(numbers[0]),
            process > 0
        else { return false }
        if Processes.isDead(process) { return true }
        // The number may be another process's by now.
        var status = stat()
        return lstat(path.cPath, &status) == 0
            && status.st_mtim.tv_sec < time(nil) - abandonment
    }
}
