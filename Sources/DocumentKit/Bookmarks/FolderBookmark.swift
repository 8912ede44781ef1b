internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What a bookmark keeps of a file outside of containers: where it was, and its identity there. Pure but
/// for looking at the file system.
struct FolderBookmark {
    /// What a token of this kind begins with.
    static let beginning = "file:"
    /// Names that are looked at before a search is given up.
    static let mostNames = 100_000
    /// Folders above the place of then whose contents are searched.
    private static let levels = 3

    /// Absolute.
    private let path: String
    private let inode: UInt64
    /// Nanoseconds since 1970; inode numbers are used again. 0 where the disk does not tell.
    private let birth: UInt64
    private let application: String
    /// The file system that it has not left; `nil`: it may be on any.
    private var device: UInt64?

    init(_ path: String, for application: String) throws(BookmarkProblem) {
        guard let identity = Self.identity(path) else { throw .file("\(path): \(Errno.last)") }
        self.path = path
        (inode, birth) = identity
        self.application = application
    }

    /// An item that was at the path, and has not left its file system: for ``search()``.
    init(_ entry: FolderTree.Entry, at path: String) {
        self.path = path
        (inode, birth) = (entry.stamp.inode, entry.birth)
        application = ""
        device = entry.stamp.device
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    init?(_ text: String) {
        guard text.hasPrefix(Self.beginning) else { return nil }
        let parts = text.dropFirst(Self.beginning.count).split(
            separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let inode = UInt64(parts[0], radix: 16),
            let birth = UInt64(parts[1], radix: 16), let application = Self.decoded(parts[2]),
            let path = Self.decoded(parts[3]), path.hasPrefix("/")
        else { return nil }
        (self.inode, self.birth, self.application, self.path) = (inode, birth, application, path)
    }

    var text: String {
        Self.beginning + String(inode, radix: 16) + "." + String(birth, radix: 16) + "."
            + Self.encoded(application) + "." + Self.encoded(path)
    }

    private static func encoded(_ text: String) -> String { Hexadecimal.text(text.pathBytes) }

    private static func decoded(_ digits: Substring) -> String? {
        Hexadecimal.bytes(digits.utf8).map { String(path: $0) }
    }

    private static func identity(_ path: String) -> (UInt64, UInt64)? {
        FolderTree.Entry(path).map { ($0.stamp.inode, $0.birth) }
    }

    private func isIt(_ path: String) -> Bool {
        Self.identity(path).map { $0 == (inode, birth) } ?? false
    }

    /// Where the file is: the file itself wherever it is found, else what has its name now, which
    /// is what a program leaves that saves by renaming.
    func resolve(for application: String) throws(BookmarkProblem) -> (path: String, isStale: Bool) {
        if application != self.application { throw .otherApplication }
        if isIt(path) { return (path, false) }
        if let found = search() { return (found, true) }
        guard access(path.cPath, F_OK) == 0 else { throw .deleted }
        return (path, true)
    }

    /// Where the item is, if that is nearby.
    func search() -> String? {
        var left = Self.mostNames
        var folder = path
        var searched: String?
        for _ in 0..<Self.levels {
            guard let slash = folder.lastSlash, slash != folder.startIndex else { break }
            folder = String(folder[..<slash])
            if let found = search(folder, without: searched, &left) { return found }
            searched = folder
        }
        return nil
    }

    /// Folders nearby first; those of other file systems are left out.
    private func search(_ top: String, without searched: String?, _ left: inout Int) -> String? {
        guard let device = FolderTree.Entry(top)?.stamp.device, self.device ?? device == device
        else { return nil }
        var open = [top][...]
        while let folder = open.popFirst() {
            for name in (try? Directories.names(in: folder)) ?? [] {
                left -= 1
                if left < 0 { return nil }
                let path = folder + "/" + name
                guard path != searched, let entry = FolderTree.Entry(path),
                    entry.stamp.device == device
                else { continue }
                if (entry.stamp.inode, entry.birth) == (inode, birth) { return path }
                if entry.isFolder { open.append(path) }
            }
        }
        return nil
    }
}
