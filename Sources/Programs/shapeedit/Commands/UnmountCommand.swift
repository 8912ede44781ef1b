import ArgumentParser
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit unmount DIR`.
struct UnmountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount", abstract: "Take a mounted folder away, when everything is on disk.")

    @Argument(help: "The mounted folder.")
    var directory: String

    func run() throws {
        guard let point = Self.point(directory) else {
            throw Failure(.usage, "\(directory) is not a folder of ShapeEdit")
        }
        let daemon = StatusCommand.field("process", of: StatusCommand.text(point)).flatMap {
            Int32($0)
        }
        try Self.take(point)
        // The container is free when the daemon is gone.
        guard let daemon else { return }
        for _ in 0..<6_000 {
            if kill(daemon, 0) != 0, errno == ESRCH { return }
            if Self.isZombie(daemon) { return }
            usleep(10_000)
        }
        throw Failure(.temporary, "the daemon (process \(daemon)) is still writing")
    }

    /// Takes the mount away. The daemon's own process may be in a call on it just then: a busy one is
    /// asked for again, for half a second.
    private static func take(_ point: String) throws(Failure) {
        for _ in 0..<25 {
            do throws(Failure) { return try takeOnce(point) } catch {
                guard error.kind == .temporary else { throw error }
            }
            usleep(20_000)
        }
        try takeOnce(point)
    }

    private static func takeOnce(_ point: String) throws(Failure) {
        if geteuid() != 0 {
            try UnmountHelper.run(point)
        } else if umount2(point.cPath, 0) != 0 {
            if errno == EBUSY { throw busy(point) }
            throw Failure(.unavailable, "\(point): \(Errno.last)")
        }
    }

    /// The mount point that `directory` names, also when the mount does not answer any more.
    private static func point(_ directory: String) -> String? {
        let points = MountTable.mountPoints()
        if let resolved = MountTable.resolved(directory), points.contains(resolved) {
            return resolved
        }
        let absolute =
            directory.hasPrefix("/")
            ? directory
            : (getcwd(nil, 0).map { text -> String in
                defer { free(text) }
                return String(cPath: text)
            } ?? "") + "/" + directory
        return points.first { $0 == absolute || $0 + "/" == absolute }
    }

    private static func isZombie(_ process: Int32) -> Bool {
        guard let file = try? OwnedDescriptor.open("/proc/\(process)/stat", O_RDONLY) else {
            return true
        }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return false }
        return text[end...].dropFirst(2).first == "Z"
    }

    /// What is said of a mount that is in use.
    static func busy(_ point: String) -> Failure {
        Failure(.temporary, "\(point) is busy: a program has files open or stands in it")
    }
}
