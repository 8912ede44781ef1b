internal import Glibc
internal import PathText
internal import SystemCalls

/// A command that runs where it sees the machine's programs, itself and one file, and reaches nobody.
///
/// It can write to `/tmp` and `/dev/shm` only, which are in memory, have a size, and go with it; of
/// what it leaves one file is given out.
struct Sandbox: Sendable {
    private static let addressSpace = 1 << 30
    private static let processorSeconds = 10
    /// Processes and threads in one sandbox. The kernel (5.14 or later) counts those of the sandbox's own
    /// user namespace, and leaves this out where the daemon is root.
    private static let processes = 512
    static let fileBytes = 16 << 20
    /// What the files in `/tmp` may have together: some programs unpack the document there.
    private static let folderBytes = 64 << 20
    /// The same of `/dev/shm`.
    private static let sharedBytes = 16 << 20

    /// Where the machine's programs are, and folders that are parts of that or beside it.
    private static let programs = "/usr"
    private static let merged = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

    /// Where a command puts the file that is given out.
    static let picture = "/tmp/picture.png"
    /// Ends all of this, bubblewrap itself and what it has only begun to start, when the daemon is gone:
    /// bubblewrap and what runs inside ask to go with whoever started them later than that can die.
    ///
    /// Each process has a limit of memory; when they take too much together, they are the first to be
    /// ended. Done outside, since nothing can be written in `/proc` inside.
    private static let first = [
        "/bin/sh", "-c",
        """
        (read -r end <&\(ChildProcess.further); kill -KILL 0) &
        echo 1000 > /proc/self/oom_score_adj; exec "$@"
        """, "sh",
    ]
    /// Runs the command and writes that file to the standard output, which the command does not
    /// have. A line stands for what is no file, so that it is told from nothing.
    private static let script = """
        file=$1; shift; "$@" < /dev/null > /dev/null 2>&1; code=$?
        if [ -f "$file" ]; then cat "$file"; elif [ -e "$file" ]; then echo; fi
        exit $code
        """

    let bubblewrap: String
    let prlimit: String

    /// Why there is none.
    struct Missing: Error {
        var reason: String
    }

    /// The sandbox of this machine, tried out.
    static func find() throws(Missing) -> Sandbox {
        guard let bubblewrap = ThumbnailerEntry.path(of: "bwrap") else {
            throw Missing(reason: "bubblewrap (bwrap) is not installed")
        }
        guard let prlimit = ThumbnailerEntry.path(of: "prlimit") else {
            throw Missing(reason: "prlimit (util-linux) is not installed")
        }
        let sandbox = Sandbox(bubblewrap: bubblewrap, prlimit: prlimit)
        do throws(ThumbnailFailure) {
            let end = try sandbox.run(
                ["/usr/bin/true"], input: nil, milliseconds: 5_000)
            if end != .exit(0) { throw .died(end.description) }
        } catch {
            throw Missing(reason: "bubblewrap does not work: \(error)")
        }
        return sandbox
    }

    /// Where a program is inside; nil if it is not installed.
    static func path(of program: String) -> String? {
        if program.hasPrefix("/") { return shown(program) }
        // The machine's own is found there, whatever is before it in PATH.
        return shown("/usr/bin/" + program) ?? shown("/bin/" + program)
            ?? ThumbnailerEntry.path(of: program).flatMap { shown($0) }
    }

    /// Where a program at this path is inside.
    private static func shown(_ path: String) -> String? {
        guard access(path.cPath, X_OK) == 0, let found = realpath(path.cPath, nil) else {
            return nil
        }
        defer { free(found) }
        let target = String(cPath: found)
        // A folder can be "executed" as well, and would be shown with all that is in it.
        var status = stat()
        guard stat(target.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return isMachines(path) && isMachines(target) ? path : target
    }

    /// Whether a file is in the folders of the machine's programs, which are shown whole.
    static func isMachines(_ path: String) -> Bool {
        ([programs] + merged).contains { path.hasPrefix($0 + "/") }
    }

    /// Where a file is that is shown inside, and where the program sees it.
    struct Shown {
        var path: String
        var inside: String
    }

    /// Runs a command to its end, which comes at the latest after the time given. If the sandbox itself
    /// failed, so that the command did not run, that is ``ThumbnailFailure/unavailable(_:)``.
    ///
    /// - Parameter output: the descriptor of the file that gets what it leaves in ``picture``, at
    ///   most ``fileBytes``; `nil` for none.
    func run(
        _ command: [String], input: Shown?, output: Int32? = nil, milliseconds: UInt64,
        cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> ChildProcess.End {
        let giving = output == nil ? [] : ["/bin/sh", "-c", Self.script, "sh", Self.picture]
        let process: ChildProcess
        let report: SandboxReport
        let filter: SandboxFilter
        do throws(Errno) {
            report = try SandboxReport()
            filter = try SandboxFilter()
            process = try ChildProcess(
                Self.first + limits + [bubblewrap, "--json-status-fd"]
                    + [String(ChildProcess.further)] + filter.arguments
                    + surroundings(command[0], input) + ["--"] + limitsInside + giving + command,
                environment: [:], input: filter.reader.number, output: output,
                further: report.writer.number)
        } catch {
            throw .unavailable("bubblewrap cannot be started: \(error)")
        }
        var watched = [
            pollfd(fd: process.ending.number, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: cancellation?.descriptor.number ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&watched, until: MonotonicClock.after(milliseconds: milliseconds))
        if watched[0].revents != 0 {
            let end = process.end()
            // By a signal: what runs inside may have caused that, as when memory is short.
            if case .exit(let code) = end, code <= 128, !report.tellsOfCommand {
                throw .unavailable("bubblewrap ended with code \(code)")
            }
            return end
        }
        // What runs inside dies with bubblewrap.
        process.kill()
        throw count == 0 ? .timedOut(milliseconds: milliseconds) : .cancelled
    }

    private var limits: [String] {
        [
            prlimit, "--as=\(Self.addressSpace)", "--cpu=\(Self.processorSeconds)",
            "--fsize=\(Self.fileBytes)", "--core=0", "--",
        ]
    }

    /// Outside, all processes of the user would count.
    private var limitsInside: [String] { [prlimit, "--nproc=\(Self.processes)", "--"] }

    private func surroundings(_ program: String, _ input: Shown?) -> [String] {
        var result = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
        // In a user namespace of its own it could mount folders without a size.
        result += ["--unshare-user", "--disable-userns"]
        result += ["--ro-bind", Self.programs, Self.programs]
        for folder in Self.merged {
            if let target = try? SymbolicLink.target(of: folder) {
                result += ["--symlink", String(decoding: target, as: UTF8.self), folder]
            } else {
                result += ["--ro-bind-try", folder, folder]
            }
        }
        for path in [
            "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
            "/etc/fonts", "/etc/ImageMagick-6", "/etc/libreoffice", "/var/cache/fontconfig",
        ] {
            result += ["--ro-bind-try", path, path]
        }
        result += ["--proc", "/proc", "--dev", "/dev", "--chdir", "/tmp"]
        result += ["--size", "\(Self.sharedBytes)", "--tmpfs", "/dev/shm"]
        result += ["--size", "\(Self.folderBytes)", "--tmpfs", "/tmp"]
        result += ["--setenv", "HOME", "/tmp", "--setenv", "PATH", "/usr/bin:/bin"]
        result += ["--setenv", "LANG", "C.UTF-8", "--setenv", "GIO_USE_VFS", "local"]
        // A program of the user's own, as in `~/.local/bin`; of what is beside it nothing.
        if !Self.isMachines(program) { result += ["--ro-bind-try", program, program] }
        if let input { result += ["--ro-bind", input.path, input.inside] }
        // Where the daemon is root, so is the program to the files of `/proc/sys`, whatever it may not do
        // otherwise: it could name the program that the kernel runs for the next crash.
        result += ["--remount-ro", "/proc"]
        // These are in memory too, and without a size. Last: in them are the places of the others.
        return result + ["--remount-ro", "/dev", "--remount-ro", "/"]
    }
}
