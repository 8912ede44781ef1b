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
            throw Failure(.cannotCreate, "\(path): \(error)")
        }
        if flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            throw Failure(
                .temporary,
                "the container \(name) is in use: \(Self.holder(file)). Unmount it first.")
        }
        write("\(holder) (process \(getpid()))")
    }

    /// Lets others in.
    func release() { flock(file.number, LOCK_UN) }

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
