import FileSystem
import Glibc
import Model

/// What the options behind `-o` say.
struct MountOptions {
    /// For libfuse.
    var fuse: [String] = []
    private var mayPass = true
    /// With `sync` the kernel asks for an fsync after each write, but not of one that it passes through.
    var passthrough: Bool { mayPass && !fuse.contains("sync") }
    /// Reading changes nothing in a mount that is read-only either.
    var noAccessTimes: Bool { fuse.contains("noatime") || fuse.contains("ro") }
    /// Listing a folder leaves no time; the kernel's own `nodiratime` is for times that it keeps itself.
    var noFolderAccessTimes = false
    /// Seconds that somebody waits for a store that does not answer.
    var storePatience = 20.0
    /// Seconds that blobs nobody needs stay in a store of the container's own; 0: for ever.
    var storeGrace: Int64 = 604_800
    /// How much of the contents of a container with a store may be here.
    var quota = Quota()
    /// Whether the user's thumbnail cache is kept right for the mount.
    var keepsDesktop = true
    /// Whether the user's list of recently used files and the mount's are kept in step.
    var keepsRecentFiles = true
    /// Whether those who watch the mount are told of changes that came otherwise.
    var replays = true

    /// Options that mount(8) gives to every helper and that mean nothing here.
    private static let ignored: Set<String> = [
        "defaults", "rw", "auto", "noauto", "exec", "async", "user", "nouser", "users", "nousers",
        "owner", "noowner", "group", "nogroup", "_netdev", "nofail", "symfollow", "silent", "loud",
        // Access times are kept as relatime has it, whatever is asked for, unless by noatime or nodiratime.
        "atime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime",
    ]
    /// Options that take back another one: the last of both holds, as for mount(8).
    private static let opposites = [
        "rw": "ro", "exec": "noexec", "async": "sync", "atime": "noatime",
        "strictatime": "noatime", "suid": "nosuid", "dev": "nodev",
    ]
    /// Beginnings of options that are for others: mount(8), systemd, file managers.
    private static let others = ["x-", "X-", "comment=", "user=", "uhelper=", "helper="]

    /// What libfuse and the kernel understand.
    private static let known: Set<String> = [
        "allow_other", "allow_root", "auto_unmount", "ro", "nosuid", "nodev", "noexec", "noatime",
        "sync", "dirsync", "debug", "default_permissions",
    ]
    private static let knownValues = [
        "fsname=", "context=", "fscontext=", "defcontext=", "rootcontext=",
    ]

    /// Reads lists such as `ro,allow_other`. An option that nobody knows is a usage error, found
    /// before anything is opened.
    init(_ lists: [String]) throws(Failure) {
        for option in lists.flatMap({ $0.split(separator: ",") }).map(String.init) {
            if let former = Self.opposites[option] { fuse.removeAll { $0 == former } }
            switch option {
            case "no_passthrough": mayPass = false
            case "no_desktop_thumbnails": keepsDesktop = false
            case "no_desktop_recents": keepsRecentFiles = false
            case "no_replay": replays = false
            case "nodiratime": noFolderAccessTimes = true
            case "diratime": noFolderAccessTimes = false
            case _ where option.hasPrefix("store_timeout="):
                guard let seconds = Double(option.dropFirst(14)), (1...3600).contains(seconds)
                else {
                    throw Failure(.usage, "\(option): it is 1 to 3600 seconds")
                }
                storePatience = seconds
            case _ where option.hasPrefix("store_grace="):
                guard let seconds = Int64(option.dropFirst(12)),
                    (0...1_000_000_000).contains(seconds)
                else {
                    throw Failure(.usage, "\(option): it is 0 to 1000000000 seconds")
                }
                storeGrace = seconds
            case _ where option.hasPrefix("quota="):
                quota.bytes = try Self.size(option, 6)
            case _ where option.hasPrefix("keep_free="):
                quota.free = try Self.size(option, 10)
            case _ where Self.knownValues.contains(option):
                throw Failure(.usage, "the mount option \(option) says nothing: it needs a value")
            case _ where option.hasPrefix("max_read="):
                guard UInt32(option.dropFirst(9)) != nil else {
                    throw Failure(.usage, "\(option): it is a number of bytes")
                }
                fuse.append(option)
            case "suid", "dev":
                // The C library's mount has nosuid and nodev unless root asks for these.
                if geteuid() == 0 { fuse.append(option) }
            case _
            where Self.ignored.contains(option) || Self.others.contains(where: option.hasPrefix):
                break
            case _
            where Self.known.contains(option) || Self.knownValues.contains(where: option.hasPrefix):
                fuse.append(option)
            default:
                throw Failure(
                    .usage,
                    "the mount option \(option) is not known; see shapeedit(1) and mount.fuse3(8)")
            }
        }
    }

    /// Throws if there is what has no sense in the background.
    func checkBackground() throws(Failure) {
        // Several lines for each request, which are no log.
        if fuse.contains("debug") {
            throw Failure(
                .usage, "the mount option debug prints on standard error: it needs --foreground")
        }
    }

    /// The bytes behind the first `prefix` characters.
    private static func size(_ option: String, _ prefix: Int) throws(Failure) -> UInt64 {
        guard let size = ByteSize(argument: String(option.dropFirst(prefix))) else {
            throw Failure(.usage, "\(option): it is a number of bytes, such as 500M or 20G")
        }
        return UInt64(size.bytes)
    }
}
