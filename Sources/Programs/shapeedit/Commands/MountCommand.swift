import ArgumentParser
import Content
import Control
import Coordination
import DocumentKit
import FileSystem
import Glibc
import Model
import PathText
import SystemCalls

/// `shapeedit mount [NAME] DIR`.
struct MountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Show a container as a folder.",
        discussion: """
            Without NAME the default container is mounted; it is made on first use and filled with \
            a few sample documents, and so is the folder DIR if there is none. With --app the \
            container APP is mounted, which is made on first use, and beside its own documents \
            those that other containers grant to it, in folders "in CONTAINER". Returns when the \
            folder answers; the daemon goes on in the background until the folder is unmounted.
            """)

    @Argument(help: "The container and the folder, or the folder alone.", completion: .directory)
    var places: [String]

    @Option(
        help: ArgumentHelp("Mount the container of an app.", valueName: "app"),
        completion: .containers)
    var app: String?

    @Flag(name: [.short, .long], help: "Stay in the foreground and log to standard error.")
    var foreground = false

    /// Of the process that a mount in the background starts.
    @Flag(help: .hidden) var daemon = false

    @Flag(
        name: .customLong("no-desktop-thumbnails"),
        help: "Leave the thumbnail cache of your desktop alone.")
    var leavesDesktopAlone = false

    @Flag(
        name: .customLong("no-desktop-recents"),
        help: "Leave the list of recently used files of your desktop alone.")
    var leavesRecentFilesAlone = false

    @Flag(help: "Print JSON, when the folder answers.")
    var json = false

    @Option(
        name: .customShort("o", allowingJoined: true),
        help: ArgumentHelp(
            "Mount options, separated by commas (MOUNT OPTIONS in shapeedit(1)).",
            valueName: "options"))
    var options: [String] = []

    func validate() throws {
        guard (1...2).contains(places.count) else {
            throw ValidationError(
                "more than a container and a folder: \(places.joined(separator: " "))")
        }
        if let app, places.count == 2 {
            throw ValidationError("--app \(app) names the container already")
        }
    }

    func run() throws {
        let directory = places[places.count - 1]
        try Remount.runIfAsked(options, directory)
        let name = app ?? (places.count == 2 ? places[0] : Containers.defaultName)
        try Containers.check(name)
        if name != Containers.defaultName, app == nil {
            try Containers.checkExists(
                name, advice: "; `shapeedit container create \(name)` makes one")
        }
        var options = try MountOptions(options)
        if !foreground { try options.checkBackground() }
        if leavesDesktopAlone { options.keepsDesktop = false }
        if leavesRecentFilesAlone { options.keepsRecentFiles = false }
        var signals: EndingSignals?
        defer { signals?.release() }
        let isMade = app == nil && places.count == 1 ? try Self.makeFolder(directory) : false
        do {
            let point = try Self.mountPoint(directory)
            try Containers.checkApart(name, from: point)
            var mount = Mount(name: name, point: point, options: options)
            mount.names = MountPoint.names(of: point, called: directory)
            mount.isApp = app != nil
            mount.isInBackground = daemon
            if foreground || daemon {
                let json = json
                try mount.run { if json { Self.report(name, point, getpid()) } }
            } else {
                // Not before: a folder that does not answer would keep them waiting.
                let held = EndingSignals()
                signals = held
                let daemon = try Background.run(mount, held)
                if json { Self.report(name, point, daemon) }
            }
        } catch {
            if isMade { rmdir(directory.cPath) }
            throw error
        }
    }

    private static func report(_ name: String, _ point: String, _ daemon: pid_t) {
        Console.say(
            JSONText.object(
                "mountPoint", at: point,
                [("container", JSONText.string(name)), ("pid", "\(daemon)")]))
    }

    /// Makes the folder that a newcomer names and does not have yet; whether there was none.
    private static func makeFolder(_ path: String) throws(Failure) -> Bool {
        guard access(path.cPath, F_OK) != 0 else { return false }
        // Who names a container alone wants that one, and not a folder that is called so. What
        // cannot name a container, such as "My Shapes", is a folder.
        if !path.contains("/"), (try? Containers.exists(path)) == true {
            throw Failure(
                .noInput,
                "\(path) is a container and no folder; `shapeedit mount \(path) DIR` shows it at DIR"
            )
        }
        return mkdir(path.cPath, 0o777) == 0
    }

    /// An empty directory that nothing is mounted on, or a mount whose daemon is gone.
    ///
    /// The latter makes way when the next can take its place (``Mount/makeWay()``). Without either,
    /// programs that go on would write into the folder below, where nobody finds it afterwards.
    static func mountPoint(_ path: String) throws(Failure) -> String {
        if let mounted = MountPoint.named(path), mounted.isDead { return mounted.path }
        guard let point = MountTable.resolved(path) else { throw unreachable(path, Errno.last) }
        if MountTable.isMounted(point) { throw MountPoint(path: point).taken }
        do throws(Errno) {
            if try !Directories.names(in: point).isEmpty {
                throw Errno(ENOTEMPTY)
            }
        } catch {
            switch error.code {
            case ENOTEMPTY:
                // What was listed may be another daemon's mount, which came just now.
                if MountTable.isMounted(point) { throw MountPoint(path: point).taken }
                throw Failure(.cannotCreate, "\(point): \(error); choose an empty folder")
            case ENOTDIR:
                throw Failure(.cannotCreate, "\(point): \(error); choose an empty folder")
            default: throw unreachable(point, error)
            }
        }
        return point
    }

    private static func unreachable(_ path: String, _ error: Errno) -> Failure {
        switch error.code {
        case ENOTCONN:
            Failure(
                .temporary,
                "\(path) is a mount that does not answer any more; `shapeedit unmount \(path)` first"
            )
        case EACCES, EPERM: Failure(.noPermission, "\(path): \(error)")
        case ENOENT where path.isEmpty: Failure(path, error)
        case ENOENT: Failure(.noInput, "\(path): \(error); make the folder first")
        default: Failure(.cannotCreate, "\(path): \(error)")
        }
    }
}

/// A mount to be made.
struct Mount: Sendable {
    let name: String
    let point: String
    var options: MountOptions
    /// The folder's paths, as ``MountPoint/names(of:called:)`` tells them.
    var names: [String] = []
    /// Whether what other containers grant to this one is shown.
    var isApp = false
    /// Whether nobody reads what this process says, once the folder answers.
    var isInBackground = false

    /// Serves the mount until it is taken away.
    ///
    /// - Parameter ready: called when the folder answers.
    func run(ready: @Sendable () -> Void = {}) throws(Failure) {
        let pictures = try PictureProgram.options(
            desktop: options.keepsDesktop ? names : [])
        // Whoever started it may have stood in another mount, or on a disk that is to go.
        chdir("/")
        // While this process is small.
        let guardian = MountGuard()
        Memory.sharePools()
        // The kernel keeps programs to their own bound when they write here; a daemon that ended at its own
        // would take the mount away from all of them.
        LongestFile.failBeyond()
        LongestFile.raise()
        ResourceLimit.raiseProcessorTime()
        Descriptors.allowMany()
        try Requirements.check()
        // Only the default container and those of apps make themselves; the former begins with samples.
        if try !Containers.exists(name) { try Containers.create(name, hasSamples: !isApp) }
        let folder = ContainerFolder(path: try Containers.path(name))
        let log = isInBackground ? DaemonLog(folder: folder) : nil
        log?.adopt()
        let container = try Container(
            name, at: folder.path, holder: ContainerFolder.mounted(at: point))
        if let report = container.recovered { Console.complain("\(name): \(report)") }
        let volume = Volume(container: container)
        volume.noAccessTimes = options.noAccessTimes
        volume.noFolderAccessTimes = options.noFolderAccessTimes
        volume.quota = options.quota
        if let store = container.store {
            do throws(Failure) { try Containers.checkApart(storeAt: store, from: point) } catch {
                container.close()
                throw error
            }
            volume.connect(
                try ContainerStore.open(
                    store, patience: options.storePatience, logger: ContainerStore.logger),
                address: store, patience: options.storePatience, grace: options.storeGrace,
                logger: ContainerStore.logger)
        }
        volume.connectSources(
            ContainerStore.settings(options.storePatience), logger: ContainerStore.logger)
        volume.showPictures(pictures)
        volume.keepTexts(program: pictures.program)
        if let recent = RecentFilesProgram.options(options, point) {
            volume.keepRecentFiles(recent)
        }
        if options.replays {
            volume.replayChanges(program: Helper.program, mountPoint: point)
        }
        if !isApp, try container.awaitsSamples() { Samples.fill(volume, of: container) }
        var fuse = FuseSession.Options()
        fuse.fuse = options.fuse
        fuse.passthrough = options.passthrough
        if isApp { fuse.owners = GrantOwners(home: try Containers.home(), application: name) }
        let session: FuseSession
        do throws(Failure) {
            let turn = MountTurn(at: point)
            try makeWay()
            session = try FuseSession(volume, at: point, fuse)
            turn.end()
        } catch {
            container.close()
            throw error
        }
        guardian.watch(point)
        session.start()
        let control = ControlAddress.listen(for: volume, container: name)
        ready()
        control?.start()
        let problem = session.run(threads: fuse.threads) {
            // Not before: who mounts in the background is told why, if it cannot be.
            if let log, log.begin() { volume.logFile = log.folder.log }
            log?.tell("process \(getpid()) shows \(name) at \(point)")
            if let report = container.recovered { log?.tell("\(report)") }
        }
        control?.stop()
        session.unmount()
        // Who stops it by a signal, or unmounts by umount(8), is told by nobody else.
        let isFinished = container.close()
        log?.tell("process \(getpid()) has ended")
        if let problem { throw problem }
        if !isFinished { throw UnmountCommand.unfinished(name, folder.path) }
    }

    /// Takes a mount away whose daemon is gone, now that all is ready for the next; another daemon may
    /// have come first since the folder was looked at.
    private func makeWay() throws(Failure) {
        while let mounted = MountPoint.named(point) {
            guard mounted.isDead else { throw mounted.taken }
            try mounted.unmount()
        }
    }
}
