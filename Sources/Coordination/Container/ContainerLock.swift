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
        let path = folder.lock
        do throws(Errno) {
            file = try OwnedDescriptor.open(path, O_RDWR | O_CREAT, mode: 0o600)
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
            // One that was killed has it until the last of its threads is gone.
            let most = isBrief ? Self.briefPatience : Self.isDying(other) ? Self.patience : 0
            guard looks < most else {
                let advice = isBrief ? "Try again." : "Unmount it first."
                throw Failure(.temporary, "the container \(name) is in use: \(other). \(advice)")
            }
            usleep(20_000)
        }
        write("\(holder) (process \(getpid()))")
    }

    /// Lets others in.
    func release() {
        // The next one is not to be taken for this.
        ftruncate(file.number, 0)
        flock(file.number, LOCK_UN)
    }

    /// Looks at a holder that is dying, 20 ms apart.
    private static let patience = 100
    /// Looks at those that have it for a moment: ten seconds.
    private static let briefPatience = 500

    /// Whether it is a command that looks at a container that is not mounted, or one that has not
    /// said yet what it is.
    private static func isBrief(_ holder: String) -> Bool {
        holder.isEmpty || holder.hasPrefix("having its ")
    }

    /// Whether the first thread of the process that a holder names is dead.
    private static func isDying(_ holder: String) -> Bool {
        guard let start = holder.lastIndex(of: " "), holder.hasSuffix(")"),
            let process = Int32(holder[holder.index(after: start)...].dropLast())
        else { return false }
        return Processes.isDead(process)
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
