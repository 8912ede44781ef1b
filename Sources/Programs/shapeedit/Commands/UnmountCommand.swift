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
            throw Failure(.usage, "\(directory) is not a folder of ShapeEdit")
        }
        let status = StatusCommand.text(point.path)
        let daemon = StatusCommand.field("process", of: status).flatMap { Int32($0) }
        try point.unmount()
        if let daemon { try Self.waitForEnd(of: daemon, status, point) }
        if json {
            let container = StatusCommand.field("container", of: status)
            Console.say(
                JSONText.object(
                    "mountPoint", at: point.path, [("container", JSONText.string(container))]))
        }
    }

    /// The container is free when the daemon is gone.
    private static func waitForEnd(
        of daemon: Int32, _ status: String, _ point: MountPoint
    ) throws(Failure) {
        for _ in 0..<6_000 {
            if Processes.isDead(daemon) { return try checkFinished(daemon, status) }
            usleep(10_000)
        }
        // A sandbox that was begun meanwhile has the mount too, until it ends.
        throw Failure(
            .temporary,
            "the daemon (process \(daemon)) has not ended: it is still writing, or the folder is "
                + "still mounted in another mount namespace: "
                + "grep -l \(point.path) /proc/*/mountinfo")
    }

    /// Fails if the daemon could not bring everything to the disk, or was killed before: who is told that
    /// the folder is unmounted may take the disk out.
    private static func checkFinished(_ daemon: Int32, _ status: String) throws(Failure) {
        guard let folder = StatusCommand.field("folder", of: status),
            let name = StatusCommand.field("container", of: status),
            Container.isUnfinished(at: folder, by: daemon)
        else { return }
        throw Failure(
            .inputOutput,
            "it is unmounted, but not everything that was written is on the disk of \(folder): "
                + "see that this disk works and can be written, then `shapeedit container check \(name)`"
        )
    }
}
