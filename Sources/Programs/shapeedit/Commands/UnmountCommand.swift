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
        guard let point = MountPoint.named(directory) else {
            throw Failure(.usage, "\(directory) is not a folder of ShapeEdit")
        }
        let daemon = StatusCommand.field("process", of: StatusCommand.text(point.path)).flatMap {
            Int32($0)
        }
        try point.unmount()
        // The container is free when the daemon is gone.
        guard let daemon else { return }
        for _ in 0..<6_000 {
            if Processes.isDead(daemon) { return }
            usleep(10_000)
        }
        throw Failure(.temporary, "the daemon (process \(daemon)) is still writing")
    }
}
