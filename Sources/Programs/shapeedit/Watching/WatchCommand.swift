import ArgumentParser
import DocumentFiles
import Documents
import Glibc
import Model
import SystemCalls

/// `shapeedit watch`.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Tell what happens to documents in a mount, as it happens.",
        discussion: """
            A line for each change, until it is interrupted. With --since it begins after the change \
            of that number, also of an earlier mount, so that nothing is missed in between. Only the \
            owner of the mount may watch. It keeps the mount busy, as every open file does.
            """)

    @Argument(
        help: "A document, or a folder with all that is in it.", completion: .file())
    var path = "."
    @Option(help: "The last change that is known: what follows it is told.")
    var since: UInt64?
    @Option(help: "End after so many lines.")
    var count: Int?
    @Flag(help: "Print a JSON object a line, as .shapeedit/events has them.")
    var json = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count \(count): at least 1") }
    }

    func run() throws {
        let place = try WatchedPlace(path)
        try MountedFolder.requireDocuments(path, at: place.path)
        let file = try open(in: place)
        Console.endWithReader()
        var left = count ?? .max
        var lines = LineReader()
        while left > 0 {
            let line: String
            do throws(Errno) { line = try lines.next(file) } catch {
                throw Failure(.unavailable, "\(place.mountPoint): the mount went away (\(error))")
            }
            guard let event = WatchedEvent(line), place.covers(event) else { continue }
            if json { Console.say(line) } else { Console.say(line: event.text) }
            left -= 1
        }
    }

    private func open(in place: WatchedPlace) throws(Failure) -> OwnedDescriptor {
        let name = since.map { "events-\($0)" } ?? "events"
        do throws(Errno) {
            return try OwnedDescriptor.open(place.mountPoint + "/.shapeedit/" + name, O_RDONLY)
        } catch {
            switch error.code {
            case EACCES, EPERM:
                throw Failure(
                    .noPermission, "\(place.mountPoint): only the owner of the mount may watch it")
            case ENOENT where since != nil:
                throw Failure(
                    .usage, "--since \(since ?? 0): the container has not had so many changes")
            default: throw Failure(place.mountPoint, error)
            }
        }
    }
}

/// Lines of a file that never ends.
private struct LineReader {
    private var bytes: [UInt8] = []

    /// The next line without its end. Waits; ENODEV when the mount is gone.
    mutating func next(_ file: borrowing OwnedDescriptor) throws(Errno) -> String {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            var block = [UInt8](repeating: 0, count: 1 << 16)
            let count = try check { Glibc.read(file.number, &block, block.count) }
            if count == 0 { throw Errno(ENODEV) }
            bytes += block[..<count]
        }
    }
}
