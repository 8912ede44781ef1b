internal import Glibc

/// By which way the bytes of a tested file go.
package enum DataPath: String, Sendable, CaseIterable, CustomStringConvertible {
    /// A mount by root, where the kernel reads and writes the backing files itself if it can.
    case passthrough
    /// A mount by root where all goes through the daemon.
    case noPassthrough = "no-passthrough"
    /// A mount by an ordinary user through fusermount3.
    case ordinaryUser = "ordinary-user"
    /// No mount at all: the directory $SHAPEEDIT_TEST_ON, to check the tests themselves.
    case plain

    /// How a failed test names it.
    package var description: String { rawValue }

    /// Where checks run that hold on every POSIX file system: $SHAPEEDIT_TEST_ON alone if it is
    /// set, else both mounts of root.
    package static var posix: [DataPath] {
        isPlain ? [.plain] : mounts
    }

    /// Where checks run that only a mount can pass: both mounts of root.
    /// $SHAPEEDIT_TEST_PATHS (names with commas between) leaves some out.
    package static var mounts: [DataPath] {
        chosen(geteuid() == 0 ? [.passthrough, .noPassthrough] : [.ordinaryUser])
    }

    /// A mount of root and, where the machine lets ordinary users mount, one of theirs. In that all goes
    /// through the daemon: it stands for the one of root that does without passthrough.
    package static var mountsOfAllUsers: [DataPath] {
        guard geteuid() == 0 else { return chosen([.ordinaryUser]) }
        return chosen([.passthrough, ordinaryUsersCanMount ? .ordinaryUser : .noPassthrough])
    }

    /// Whether the device is open to all, as Debian makes it or for the test, and fusermount3 is
    /// there.
    package static var ordinaryUsersCanMount: Bool {
        FuseDevice.isForAll && isInstalled("fusermount3") && isInstalled("setpriv")
    }

    /// Where checks run that hold on every POSIX file system, for ordinary users too.
    package static var posixOfAllUsers: [DataPath] {
        isPlain ? [.plain] : mountsOfAllUsers
    }

    /// Whether the tests run on an ordinary directory.
    package static var isPlain: Bool { plainDirectory != nil }

    /// $SHAPEEDIT_TEST_ON.
    package static var plainDirectory: String? {
        getenv("SHAPEEDIT_TEST_ON").map { String(cString: $0) }
    }

    /// Whether tests may act as several users.
    package static var isPrivileged: Bool { geteuid() == 0 }

    private static func chosen(_ paths: [DataPath]) -> [DataPath] {
        guard let names = getenv("SHAPEEDIT_TEST_PATHS").map({ String(cString: $0) }) else {
            return paths
        }
        return paths.filter { names.split(separator: ",").contains(Substring($0.rawValue)) }
    }
}
