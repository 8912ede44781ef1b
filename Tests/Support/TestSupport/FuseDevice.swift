internal import Glibc
internal import Probing

/// The kernel's FUSE device, which Debian opens to all users and some containers only to root.
///
/// Where it is closed, root can still try what an ordinary user would see: in a mount namespace of
/// its own a node that is open to all lies over it. Only the programs of the product run there. What
/// they mount appears outside too, because the test's directory is a shared mount by itself.
enum FuseDevice {
    private static let path = "/dev/fuse"

    /// Whether ordinary users can mount in a test, in the one way or the other.
    static let isForAll = isOpen || canBeOpened

    /// Whether it is open to all users as it is.
    static let isOpen: Bool = {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o006 == 0o006
    }()

    private static var canBeOpened: Bool {
        guard geteuid() == 0, isInstalled("unshare"), isInstalled("findmnt"),
            let directory = try? TemporaryDirectory.make()
        else { return false }
        defer {
            umount2(directory, Int32(MNT_DETACH))
            TemporaryDirectory.remove(directory)
        }
        guard (try? share(directory)) != nil else { return false }
        let words = prefix(for: directory) + ["sh", "-c", ": <> \(path)"]
        return (try? run(words).status) == 0
    }

    /// Makes a device for all in `directory`, and the mounts below it seen in all namespaces.
    /// `umount2` takes that back.
    static func share(_ directory: String) throws {
        var status = stat()
        guard stat(path, &status) == 0,
            mount(directory, directory, nil, UInt(MS_BIND), nil) == 0,
            mount(nil, directory, nil, UInt(MS_SHARED), nil) == 0,
            mknod("\(directory)/fuse", S_IFCHR | 0o600, status.st_rdev) == 0,
            chmod("\(directory)/fuse", 0o666) == 0
        else { throw TestSetupFailure("\(path) for all: \(errorName(errno))") }
    }

    /// What a command begins with to see the device of a shared directory.
    static func prefix(for directory: String) -> [String] {
        [
            "unshare", "-m", "--propagation", "unchanged", "sh", "-c",
            "mount --make-private \"$(findmnt -nro TARGET -T \(path))\""
                + " && mount --bind \"$0\" \(path) && exec \"$@\"",
            "\(directory)/fuse",
        ]
    }
}
