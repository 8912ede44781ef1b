internal import Glibc
internal import PathText
internal import SystemCalls
internal import Thumbnailing

/// What the helper is to do: a system call or a few on the mount, by paths from its root
/// (``ReplayPlace``), whose own is empty. Nothing on the mount stays open afterwards, so that it can be unmounted.
enum ReplayCall: Equatable, Sendable {
    /// A file is made, and written if it has a size.
    case file(path: [UInt8], size: Int64)
    /// A file is made, and not opened.
    case name([UInt8])
    case folder([UInt8])
    case symlink([UInt8], target: [UInt8])
    /// A file gets a content of that size.
    case write([UInt8], size: Int64)
    /// A file gets another content of any size.
    case change([UInt8], size: Int64)
    case unlink([UInt8])
    case removeFolder([UInt8])
    case rename([UInt8], to: [UInt8])
    /// The times are set.
    case touch([UInt8])
    /// The times are set by who has the file open for writing.
    case set([UInt8])

    /// What a node's name gets at its end where it is to be told that it has moved.
    static let movedSuffix = Array("-moved".utf8)

    // MARK: Messages

    /// A letter and the fields, with a NUL behind each.
    var message: [UInt8] {
        func fields(_ letter: Character, _ fields: [UInt8]...) -> [UInt8] {
            MessageFields.message([Array(letter.utf8)] + fields)
        }
        switch self {
        case .file(let path, let size): return fields("f", path, Array(String(size).utf8))
        case .name(let path): return fields("n", path)
        case .folder(let path): return fields("d", path)
        case .symlink(let path, let target): return fields("l", path, target)
        case .write(let path, let size): return fields("w", path, Array(String(size).utf8))
        case .change(let path, let size): return fields("c", path, Array(String(size).utf8))
        case .unlink(let path): return fields("u", path)
        case .removeFolder(let path): return fields("r", path)
        case .rename(let path, let target): return fields("m", path, target)
        case .touch(let path): return fields("t", path)
        case .set(let path): return fields("s", path)
        }
    }

    init?(message: [UInt8]) {
        let fields = MessageFields.of(message)
        guard fields.count >= 2, fields[0].count == 1 else { return nil }
        let (path, second) = (fields[1], fields.count > 2 ? fields[2] : [])
        let size = Int64(String(decoding: second, as: UTF8.self))
        switch (Character(Unicode.Scalar(fields[0][0])), size) {
        case ("f", let size?): self = .file(path: path, size: size)
        case ("w", let size?): self = .write(path, size: size)
        case ("c", let size?): self = .change(path, size: size)
        case ("n", _): self = .name(path)
        case ("d", _): self = .folder(path)
        case ("l", _): self = .symlink(path, target: second)
        case ("u", _): self = .unlink(path)
        case ("r", _): self = .removeFolder(path)
        case ("m", _): self = .rename(path, to: second)
        case ("t", _): self = .touch(path)
        case ("s", _): self = .set(path)
        default: return nil
        }
    }

    // MARK: Calls

    /// In the helper; throws what the call that counts said.
    func perform() throws(Errno) {
        switch self {
        case .file(let path, let size):
            do throws(Errno) {
                try Self.write(path, O_CREAT | O_EXCL, size)
            } catch {
                if error.code == EEXIST { throw error }
                // Somebody has it open in a way that does not allow this: at least the name.
                try Self.make(path)
            }
        case .name(let path): try Self.make(path)
        case .write(let path, let size):
            do throws(Errno) {
                try Self.write(path, 0, size)
            } catch {
                // Read only, or as above.
                try Self.setTimes(path)
            }
        case .change(let path, let size):
            do throws(Errno) {
                try Self.write(path, 0, size, setsAlways: true)
            } catch {
                // As above: at least that it has changed.
                do throws(Errno) {
                    try Self.call(path) { truncate($0, off_t(size)) }
                } catch {
                    try Self.setTimes(path)
                }
            }
        case .folder(let path): try Self.call(path) { mkdir($0, 0o700) }
        case .symlink(let path, let target):
            try Self.call(path) { Glibc.symlink(target.cPath, $0) }
        case .unlink(let path): try Self.call(path) { Glibc.unlink($0) }
        case .removeFolder(let path): try Self.call(path) { rmdir($0) }
        case .rename(let path, let target):
            // Where somebody has looked for a folder at its new place it goes back to the former: in the
            // call itself the kernel cannot move it, since that holds the locks (ESTALE).
            var status = stat()
            try Self.call(path) { lstat($0, &status) }
            try Directories.renameExclusively(
                String(path: path), String(path: target))
        case .touch(let path): try Self.setTimes(path)
        case .set(let path):
            do throws(Errno) {
                let file = try Self.open(path, 0)
                try check { futimens(file.number, nil) }
            } catch {
                // As above.
                try Self.setTimes(path)
            }
        }
    }

    private static func make(_ path: [UInt8]) throws(Errno) {
        try call(path) { mknod($0, S_IFREG | 0o600, 0) }
    }

    private static func call(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Int32) throws(Errno)
    {
        let text = path.isEmpty ? ".".cPath : path.cPath
        try check { text.withUnsafeBufferPointer { $0.baseAddress.map(body) ?? -1 } }
    }

    /// Opens for writing, sets the size there is already, and closes.
    ///
    /// - Parameter setsAlways: sets it also for an empty file.
    private static func write(
        _ path: [UInt8], _ flags: Int32, _ size: Int64, setsAlways: Bool = false
    ) throws(Errno) {
        let file = try open(path, flags)
        if size > 0 || setsAlways { try check { ftruncate(file.number, off_t(size)) } }
    }

    private static func open(_ path: [UInt8], _ flags: Int32) throws(Errno) -> OwnedDescriptor {
        OwnedDescriptor(
            adopting: try check {
                Glibc.open(
                    path.cPath, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
            })
    }

    private static func setTimes(_ path: [UInt8]) throws(Errno) {
        try call(path) { utimensat(AT_FDCWD, $0, nil, AT_SYMLINK_NOFOLLOW) }
    }
}
