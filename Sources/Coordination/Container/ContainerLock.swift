internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Keeps a container from being opened twice: an flock on its lock file, which says who holds it.
final class ContainerLock: Sendable {
    private let file: OwnedDescriptor

    /// - Parameter holder: what a second opener is told, such as `mounted at /home/ada/Shapes`.
    init(_ folder: ContainerFolder, name: String, holder: String) throws(Failure) {
        try folder.checkOwner()
        // Before the first byte is written to any of its files.
        LongestFile.failBeyond()
        let path = folder.lock
        if OddFile.isAt(path) {
            throw Failure(.inputOutput, "\(path) is no file: remove what is there")
        }
        do throws(Errno) {
            file = try OwnedDescriptor.openOwn(path, O_RDWR)
        } catch {
            guard [EACCES, EPERM, EROFS].contains(error.code) else {
                throw Failure(.cannotCreate, "\(path): \(error)")
            }
            throw Failure(
                .noPermission,
                "\(path): \(error); a container can be used only where you can write: make its folder "
                    + "writable for you, or copy it to where it is")
        }
        var looks = 0
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            let other = Self.holder(file)
            looks += 1
            let isBrief = Self.isBrief(other)
            let isUnmounted = Self.isUnmounted(other)
            // One that was killed has it until the last of its threads is gone.
            let most =
                isBrief || isUnmounted
                ? Self.briefPatience : Self.isDying(other) ? Self.patience : 0
            guard looks < most else {
                // A command is at work on it, and there is no mount.
                let isCommand =
                    Self.parts(of: other).map { ContainerFolder.mountPoint(in: $0.words) == nil }
                    ?? false
                let advice =
                    isBrief || isCommand
                    ? "Try again."
                    : isUnmounted
                        ? "That is unmounted here, but a program may have files open there still."
                        : "Unmount it first."
                throw Failure(.temporary, "the container \(name) is in use: \(other). \(advice)")
            }
            usleep(20_000)
        }
        // Who makes the container anew has another file, and would have it as well.
        var status = stat()
        guard fstat(file.number, &status) == 0 else {
            throw Failure(.inputOutput, "\(folder.lock): \(Errno.last)")
        }
        guard status.st_nlink > 0 else {
            throw Failure(.noInput, "the container \(name) was deleted a moment ago")
        }
        write("\(holder) (process \(getpid()))")
    }

    /// Lets others in.
    ///
    /// - Parameter finished: everything is on the disk. If not, the file goes on naming this process, so
    ///   that whoever waits for its end can tell.
    func release(finished: Bool) {
        // The next one is not to be taken for this.
        if finished { ftruncate(file.number, 0) }
        flock(file.number, LOCK_UN)
    }

    /// What the process said that has the container or left it without finishing, and its number; `nil` if
    /// there is none, or this user may not know.
    static func lastHolder(_ folder: ContainerFolder) -> (words: String, process: Int32)? {
        guard let file = try? OwnedDescriptor.open(folder.lock, O_RDONLY | O_NONBLOCK) else {
            return nil
        }
        return parts(of: holder(file))
    }

    /// Looks at a holder that is dying, 20 ms apart.
    private static let patience = 100
    /// Looks at those that have it for a moment, or for the rest of an unmount: ten seconds.
    private static let briefPatience = 500

    /// Whether it is a command that looks at a container that is not mounted, or one that has not
    /// said yet what it is.
    private static func isBrief(_ holder: String) -> Bool {
        holder.isEmpty || holder.hasPrefix("having its ")
    }

    /// Whether it is a mount that is gone, or not there yet. Unlike that of other file systems an unmount
    /// returns before what was written is on the disk, if umount(8) or fusermount3(1) is used.
    private static func isUnmounted(_ holder: String) -> Bool {
        guard let known = parts(of: holder),
            let point = ContainerFolder.mountPoint(in: known.words)
        else { return false }
        return !KernelMount.all().contains { $0.isShapeEdit && $0.isMounted(at: point) }
    }

    /// Whether the first thread of the process that a holder names is dead.
    private static func isDying(_ holder: String) -> Bool {
        parts(of: holder).map { Processes.isDead($0.process) } ?? false
    }

    /// What a holder wrote, taken apart again.
    private static func parts(of holder: String) -> (words: String, process: Int32)? {
        let mark = " (process "
        guard holder.hasSuffix(")"), let space = holder.lastIndex(of: " "),
            let process = Int32(holder[holder.index(after: space)...].dropLast())
        else { return nil }
        let head = holder[...space]
        guard head.hasSuffix(mark) else { return nil }
        return (String(head.dropLast(mark.count)), process)
    }

    private func write(_ text: String) {
        ftruncate(file.number, 0)
        var bytes = text.pathBytes
        bytes.withUnsafeMutableBytes { try? file.write(UnsafeRawBufferPointer($0), at: 0) }
    }

    private static func holder(_ file: borrowing OwnedDescriptor) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        return String(path: bytes[..<count])
    }
}
