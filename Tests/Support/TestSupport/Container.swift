internal import CKernel
internal import FoundationEssentials
internal import Glibc
package import Probing

/// A container of the product with a data directory of its own, mounted or not.
///
/// Whoever makes one has to `remove` it. If the whole test process dies first, a guard process
/// detaches the mount and removes the files. Not for several threads at once.
package final class Container {
    /// Its name.
    package let name: String
    /// The temporary directory that holds all of it.
    package let base: String
    /// Where it is mounted.
    package let mountPoint: String
    /// $XDG_DATA_HOME of its programs.
    package let dataHome: String
    /// The user its programs run as; nil for the same as the tests.
    package let user: Int?

    /// What its programs find in their environment besides, for instance another thumbnailer.
    package var additionalEnvironment: [String: String] = [:]

    /// The process that serves the mount, or did.
    package private(set) var daemon: Int?

    /// Whether its programs see a FUSE device of their own.
    private let hasOwnDevice: Bool
    private let guardian: Guardian

    /// Makes the directories and the container. `user` is who its programs run as, `dataHome`
    /// where its data goes if not to a temporary directory, `store` its store's address; "folder"
    /// stands for a folder of its own, ``storeFolder``.
    package init(
        name: String = "test", user: Int? = nil, dataHome: String? = nil, store: String? = nil
    ) throws {
        self.name = name
        self.user = user
        base = try TemporaryDirectory.make()
        mountPoint = "\(base)/mount"
        self.dataHome = dataHome ?? "\(base)/data"
        for directory in [mountPoint, self.dataHome, "\(base)/home", "\(base)/run"] {
            mkdir(directory, 0o755)
            if let user { chown(directory, uid_t(user), gid_t(user)) }
        }
        chmod("\(base)/run", 0o700)
        hasOwnDevice = user != nil && geteuid() == 0 && !FuseDevice.isOpen
        guardian = try Guardian(of: base, mounts: [mountPoint, base])
        if hasOwnDevice {
            do { try FuseDevice.share(base) } catch {
                remove()
                throw error
            }
        }
        let address = store == "folder" ? "folder:\(storeFolder)" : store
        let result = try command(
            ["container", "create", name] + (address.map { ["--store", $0] } ?? []))
        guard result.status == 0 else {
            remove()
            throw TestSetupFailure("container create: \(result)")
        }
    }

    /// The folder of a store of its own.
    package var storeFolder: String { "\(base)/home/store" }

    /// Where the container lies.
    package var folder: String { "\(dataHome)/shapeedit/containers/\(name)" }

    /// Runs the product.
    package func command(_ words: String..., seconds: Double = 180) throws -> ProgramResult {
        try command(words, seconds: seconds)
    }

    /// Runs the product. With `line`, a line of shell that root runs first in a mount namespace of
    /// the program's own, to take something away from it.
    package func command(
        _ words: [String], after line: String? = nil, seconds: Double = 180
    ) throws -> ProgramResult {
        var prefix = hasOwnDevice ? FuseDevice.prefix(for: base) : []
        if let line { prefix += ["unshare", "-m", "sh", "-c", line + " && exec \"$@\"", "sh"] }
        if let user {
            prefix += ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
        }
        return try run(
            prefix + [try BuiltPrograms.shapeedit()] + words, directory: base,
            environment: environment, seconds: seconds)
    }

    /// The environment of its programs.
    package var environment: [String: String] {
        var values = ["HOME": "\(base)/home", "XDG_DATA_HOME": dataHome]
        for part in ["CACHE", "CONFIG", "STATE"] {
            values["XDG_\(part)_HOME"] = "\(base)/home/\(part.lowercased())"
        }
        values["XDG_RUNTIME_DIR"] = "\(base)/run"
        for name in ["PATH", "LD_LIBRARY_PATH", "TMPDIR", "LANG"] {
            values[name] = getenv(name).map { String(cString: $0) }
        }
        values.merge(additionalEnvironment) { $1 }
        return values
    }

    // MARK: Mounting

    /// Mounts it, in the background; returns when the mount answers. As an app it shows what other
    /// containers grant to it, too.
    package func mount(options: [String] = [], asApp isApp: Bool = false) throws {
        let options = options.isEmpty ? [] : ["-o", options.joined(separator: ",")]
        let place = isApp ? ["--app", name, mountPoint] : [name, mountPoint]
        let result = try command(["mount"] + place + options)
        guard result.status == 0, MountTable.isMounted(mountPoint) else {
            throw TestSetupFailure("mount: \(result)")
        }
        daemon = try status().pid
        guard daemon != nil else {
            throw TestSetupFailure("status does not tell the process id of a fresh mount")
        }
    }

    /// Unmounts it as a user would; throws what it said if that fails.
    package func unmount() throws {
        let result = try command("unmount", mountPoint)
        guard result.status == 0 else { throw TestSetupFailure("unmount: \(result)") }
        guard !MountTable.isMounted(mountPoint) else {
            throw TestSetupFailure("unmount said nothing, but the mount is still there")
        }
    }

    /// What `status --json` says about this mount; one that does not answer is asked again, for 30 s.
    package func status() throws -> MountStatus {
        let end = time(nil) + 30
        while true {
            let found = try statusNow()
            if found.pid != nil || time(nil) >= end { return found }
            usleep(100_000)
        }
    }

    private func statusNow() throws -> MountStatus {
        let result = try command("status", "--json")
        guard result.status == 0 else { throw TestSetupFailure("status: \(result)") }
        let all = try JSONDecoder().decode([MountStatus].self, from: Data(result.output))
        guard let found = all.first(where: { $0.mountPoint == mountPoint }) else {
            throw TestSetupFailure("status --json does not name \(mountPoint): \(result.text)")
        }
        return found
    }

    /// Kills the daemon with SIGKILL and detaches what is left of the mount.
    package func killDaemon() throws {
        guard let process = daemon else { throw TestSetupFailure("nothing was mounted") }
        guard kill(pid_t(process), SIGKILL) == 0 else {
            throw TestSetupFailure("kill \(process): \(errorName(errno))")
        }
        waitForEnd(of: process)
        MountTable.detach(mountPoint)
    }

    /// Waits until a process has ended and all it had open is closed, 60 s at most; whether it has.
    @discardableResult
    package func waitForEnd(of process: Int) -> Bool {
        // What /proc tells of its program is gone before its files are closed.
        let descriptor = Int32(kernel_call(Int(SYS_pidfd_open), process, 0, 0, 0, 0, 0))
        guard descriptor >= 0 else { return descriptor == -ESRCH }
        defer { close(descriptor) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 60_000) > 0
    }

    /// Whether a process exists and is not a zombie.
    package static func isAlive(_ process: Int) -> Bool {
        var byte: CChar = 0
        // A zombie has no program any more.
        return readlink("/proc/\(process)/exe", &byte, 1) > 0
    }

    /// `container check`: status 0 where all is sound.
    package func check() throws -> ProgramResult {
        try command("container", "check", name, seconds: 300)
    }

    /// Unmounts by force if need be, and removes everything; with $SHAPEEDIT_TEST_KEEP the files
    /// stay, to look at after a failure.
    package func remove() {
        if MountTable.isMounted(mountPoint) { MountTable.detach(mountPoint) }
        if hasOwnDevice { umount2(base, Int32(MNT_DETACH)) }
        if getenv("SHAPEEDIT_TEST_KEEP") == nil { TemporaryDirectory.remove(base) }
        guardian.dismiss()
    }
}

/// One mount in `status --json`.
package struct MountStatus: Decodable, Sendable {
    /// The daemon's process id; nil, like the rest, for a mount that does not answer.
    package let pid: Int?
    /// Where it is mounted.
    package let mountPoint: String
    /// Which container it shows.
    package let container: String?
    /// Whether the kernel reads and writes the backing files itself.
    package let passthrough: Bool?
    /// Contents that are not on the disk for sure.
    package let notYetDurable: Int?
    /// Bytes that came from the store; nil for a container without one.
    package let fetchedBytes: Int?
}
