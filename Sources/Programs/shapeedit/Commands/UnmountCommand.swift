import ArgumentParser
import Coordination
import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit unmount DIR`.
struct UnmountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount", abstract: "Take a mounted folder away, when everything is on disk.")

    @Argument(help: "The mounted folder.", completion: .directory)
    var directory: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard let point = MountPoint.named(directory) else {
            if access(directory.cPath, F_OK) != 0, errno == ENOENT {
                throw Failure(directory, Errno(ENOENT))
            }
            let above = MountTable.resolved(directory).flatMap(MountTable.mountPoint)
            let advice = above.map { ": it is in the mount at \($0); `shapeedit unmount \($0)`" }
            throw Failure(
                .usage, "\(directory) is not a mounted folder of ShapeEdit\(advice ?? "")")
        }
        let status = MountStatus(of: point.path)
        let daemon = status["process"].flatMap { Int32($0) }
        let before = KernelMount.all()
        try point.unmount()
        if let other = Self.others(of: point, before).first {
            // One that was made of another one goes, and that other one stays.
            guard other.isEarlier else {
                throw Failure(
                    .temporary,
                    "it is unmounted here, but its container is still mounted at \(other.path): "
                        + "`shapeedit unmount \(other.path)`")
            }
        } else if let daemon {
            try Self.waitForEnd(of: daemon, status, point)
        }
        if json {
            Console.say(
                JSONText.object(
                    "mountPoint", at: point.path,
                    [("container", JSONText.string(status["container"]))]))
        }
    }

    /// The container is free when the daemon is gone, and the disk that it is on can be taken away.
    private static func waitForEnd(
        of daemon: Int32, _ status: MountStatus, _ point: MountPoint
    ) throws(Failure) {
        for _ in 0..<6_000 {
            if Processes.hasEnded(daemon) { return try checkFinished(daemon, status) }
            usleep(10_000)
        }
        // A sandbox that was begun meanwhile has the mount too, until it ends.
        throw Failure(
            .temporary,
            "the daemon (process \(daemon)) has not ended: it is still writing, or the folder is "
                + "still mounted in another mount namespace: "
                + "grep -l \(point.path) /proc/*/mountinfo")
    }

    /// Where else the file system that was mounted at `point` is shown still, as by `mount --bind`, and
    /// whether it was there first.
    private static func others(
        of point: MountPoint, _ before: [KernelMount]
    ) -> [(path: String, isEarlier: Bool)] {
        guard let own = before.lastIndex(where: { $0.isMounted(at: point.path) }) else {
            return []
        }
        let device = before[own].device
        let left = Set(KernelMount.all().filter { $0.device == device }.map { PathKey($0.point) })
        return before.indices
            .filter { before[$0].device == device && left.contains(PathKey(before[$0].point)) }
            .map { (before[$0].point, $0 < own) }
    }

    /// What is said of a container that could not be brought to its disk.
    static func unfinished(_ name: String, _ folder: String) -> Failure {
        Failure(
            .inputOutput,
            "it is unmounted, but not everything that was written is on the disk of \(folder): "
                + "see that this disk works and can be written, then `shapeedit container check \(name)`"
        )
    }

    /// Fails if the daemon could not bring everything to the disk, or was killed before: who is told that
    /// the folder is unmounted may take the disk out.
    private static func checkFinished(_ daemon: Int32, _ status: MountStatus) throws(Failure) {
        guard let folder = status.path("folder"), let name = status["container"],
            Container.isUnfinished(at: folder, by: daemon)
        else { return }
        throw unfinished(name, folder)
    }
}
