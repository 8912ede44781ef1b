import DocumentFiles
import Glibc
import Model
import PathText
import Stores
import SystemCalls

/// The folder of a mounted container that is imported to. Its daemon is told by an attribute of the
/// folder what there is at the source, and tells by the same what became of it.
struct ImportTarget {
    let path: String
    /// It was not there before.
    private let isMade: Bool
    /// What it is in; `nil` where the kernel does not tell.
    private let mount: KernelMount?
    private let token = "\(getpid()).\(UInt64.random(in: 0...UInt64.max))"

    private static let attribute = "user.shapeedit.import"
    /// How long ``report()`` waits for a daemon that does not go on, in milliseconds.
    private static let patience: UInt64 = 10_000

    /// - Parameter makes: whether a missing folder is made.
    init(_ path: String, makes: Bool) throws(Failure) {
        self.path = path
        isMade = makes && mkdir(path.cPath, 0o777) == 0
        if makes, !isMade, errno != EEXIST {
            throw Failure(
                [EACCES, EPERM, EROFS].contains(errno) ? .noPermission : .cannotCreate,
                "\(Failure.shown(path)): \(Errno.last)")
        }
        do throws(Errno) {
            _ = try PathAttributes.value("user.shapeedit.container", of: path)
        } catch {
            if isMade { rmdir(path.cPath) }
            switch error.code {
            case ENOENT, ENOTDIR, EACCES, ENOTCONN: throw Failure(path, error)
            default: throw Failure.notMounted(path)
            }
        }
        mount = try? MountAttributes.mount(of: path)
    }

    /// The address of the tree that was imported here.
    func source() throws(Failure) -> String {
        let text: String
        do throws(Errno) {
            text = String(path: try PathAttributes.value("user.shapeedit.source", of: path))
        } catch {
            guard error.code == ENODATA else { throw Failure(path, error) }
            throw Failure(.usage, "\(path): nothing was imported to it")
        }
        // Of a folder in an import, its path follows. The path of a source may hold a line break itself:
        // the daemon knows.
        guard text.hasPrefix("folder:") || !text.utf8.contains(0x0a) else { throw isPart }
        return text
    }

    private var isPart: Failure {
        Failure(
            .usage,
            "\(path): it is a part of an import; refresh the folder that was imported to")
    }

    /// Fails if the source is in this very mount: what is shown here would be there to be listed again,
    /// and the daemon would wait for itself.
    func refuseOwnMount(_ source: String) throws(Failure) {
        var (here, there) = (stat(), stat())
        guard stat(path.cPath, &here) == 0, stat(source.cPath, &there) == 0,
            here.st_dev == there.st_dev
        else { return }
        if isMade { rmdir(path.cPath) }
        throw Failure(
            .usage, "\(source): it is in the mount that it is to be shown in; `cp -r` copies there")
    }

    func begin(_ address: String, follows: Bool) throws(Failure) {
        do throws(Errno) {
            try send(
                ["begin", token, follows ? "refresh" : "import", address].map(\.pathBytes))
        } catch {
            if error.code == EEXIST, follows { throw isPart }
            if error.code == EEXIST {
                let other = (try? PathAttributes.value("user.shapeedit.source", of: path)) ?? []
                throw Failure(
                    .cannotCreate,
                    "\(path): it shows \(String(path: other)) already; choose "
                        + "another folder")
            }
            throw failure(error)
        }
    }

    /// - Parameter fields: nine for each entry.
    func take(_ fields: [[UInt8]]) throws(Failure) { try tell("entries", fields) }

    private func tell(_ what: String, _ fields: [[UInt8]]) throws(Failure) {
        do throws(Errno) {
            try send([Array(what.utf8), Array(token.utf8)] + fields)
        } catch {
            throw failure(error)
        }
    }

    /// All has been listed that can be.
    ///
    /// - Parameter hidden: what is there and was not shown.
    func end(hidden: HiddenPaths) throws(Failure) {
        try tell("closed", all: hidden.withAllBelow)
        try tell("unshown", all: hidden.alone)
        try tell("end", [])
    }

    private func tell(_ what: String, all fields: Set<[UInt8]>) throws(Failure) {
        var part: [[UInt8]] = []
        var size = 0
        for field in fields {
            if size + field.count > ImportStream.messageSize {
                try tell(what, part)
                part = []
                size = 0
            }
            part.append(field)
            size += field.count + 1
        }
        if !part.isEmpty { try tell(what, part) }
    }

    /// What became of it: names and values. Whoever looks at a name after that finds what is there now: a
    /// name that the kernel still knows by what it was is waited for, unless a program that keeps a
    /// folder locked keeps the daemon from telling it, too. Many names may take long on a busy machine.
    func report() throws(Failure) -> [String: String] {
        var end = MonotonicClock.after(milliseconds: Self.patience)
        var tellings: String?
        var pause: UInt32 = 500
        while true {
            let report = try reportNow()
            if report["told"] != "false" { return report }
            if report["tellings"] != tellings {
                end = MonotonicClock.after(milliseconds: Self.patience)
                tellings = report["tellings"]
            } else if MonotonicClock.now > end {
                return report
            }
            usleep(pause)
            pause = min(pause * 2, 50_000)
        }
    }

    private func reportNow() throws(Failure) -> [String: String] {
        do throws(Errno) {
            let text = String(
                decoding: try PathAttributes.value(Self.attribute, of: path), as: UTF8.self)
            return Dictionary(
                text.split(separator: "\n").map { line in
                    let words = line.split(separator: " ")
                    return (String(words[0]), String(words[words.count - 1]))
                }, uniquingKeysWith: { $1 })
        } catch {
            throw failure(error)
        }
    }

    private func send(_ fields: [[UInt8]]) throws(Errno) {
        do throws(Errno) {
            try MountAttributes.set(Self.attribute, fields.flatMap { $0 + [0] }, of: path)
        } catch {
            // So the daemon says that it has taken it.
            guard error.code == EINPROGRESS else { throw error }
        }
    }

    private func failure(_ error: Errno) -> Failure {
        // What is at the path then is of another file system, or nothing.
        if mount?.isThere == false {
            return Failure(
                .unavailable,
                "\(path): its mount went away; the same command goes on when it is mounted again")
        }
        return switch error.code {
        case EPERM, EACCES, EROFS:
            Failure(
                .noPermission,
                "\(path): only its owner may do that, who also has to have mounted it")
        case ESTALE:
            Failure(.temporary, "\(path): another import to it began, or its daemon was replaced")
        case ENOMEDIUM:
            Failure(
                .temporary,
                "\(path): its source is empty now, as a disk that is not mounted is: nothing was removed "
                    + "here; if it is meant to be empty, remove what is in \(path)")
        case ENODEV: Failure.notMounted(path)
        case ENOENT, ENOTDIR, ENOTCONN, ECONNABORTED: Failure(path, error)
        default: Failure(.inputOutput, "\(path): \(error)")
        }
    }
}
