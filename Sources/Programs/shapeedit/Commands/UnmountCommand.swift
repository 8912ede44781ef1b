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
            if kill(daemon, 0) != 0, errno == ESRCH { return }
            if Self.isZombie(daemon) { return }
            usleep(10_000)
        }
        throw Failure(.temporary, "the daemon (process \(daemon)) is still writing")
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
}
