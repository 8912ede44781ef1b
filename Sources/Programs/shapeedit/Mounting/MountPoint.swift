import DocumentKit
import Glibc
import Model
import PathText
import SystemCalls

/// A folder that ShapeEdit is mounted on, with a daemon that serves it or one that is gone.
struct MountPoint {
    /// Absolute, without symlinks, as the kernel tells it.
    let path: String

    /// The mount point that `directory` names, also when the mount does not answer any more.
    static func named(_ directory: String) -> MountPoint? {
        if let resolved = MountTable.resolved(directory), MountTable.isMounted(resolved) {
            return MountPoint(path: resolved)
        }
        let absolute =
            directory.hasPrefix("/")
            ? directory
            : (getcwd(nil, 0).map { text -> String in
                defer { free(text) }
                return String(cPath: text)
            } ?? "") + "/" + directory
        let wanted = PathKey(absolute)
        return MountTable.mountPoints()
            .first { PathKey($0) == wanted || PathKey($0 + "/") == wanted }
            .map(MountPoint.init)
    }

    /// The mount that has what is called `name`, and the path of that without symlinks. Fails if there is none,
    /// or nobody can tell.
    static func containing(
        _ name: String
    ) throws(Failure) -> (point: MountPoint, resolved: String) {
        guard let resolved = MountTable.resolved(name) else { throw Failure(name, Errno.last) }
        guard let point = MountTable.mountPoint(of: resolved) else {
            throw Failure.notMounted(name)
        }
        return (MountPoint(path: point), resolved)
    }

    /// The paths by which file managers of this user name a folder that has no symlinks in its path: that
    /// one, as they show mounts; the one that the user calls it by, who may have come to it through a symlink;
    /// and where the home is a symlink the one that begins with it, as they show what is below the home.
    static func names(of point: String, called directory: String) -> [String] {
        var names = [point]
        func add(_ name: String) {
            let isOther = !names.contains { PathKey($0) == PathKey(name) }
            if isOther, leads(name, to: point) { names.append(name) }
        }
        add(absolute(directory))
        if let home = Containers.environment("HOME"), home.hasPrefix("/"),
            let resolved = MountTable.resolved(home),
            point.utf8.starts(with: (resolved + "/").utf8)
        {
            let rest = point.utf8.dropFirst(resolved.utf8.count)
            add(absolute(home + String(decoding: rest, as: UTF8.self)))
        }
        return names
    }

    /// Whether a path is one of a folder. What is mounted there may not answer any more, and hide that.
    private static func leads(_ path: String, to point: String) -> Bool {
        if let resolved = MountTable.resolved(path) { return resolved == point }
        return MountTable.resolved(path.parentPath).map { "\($0)/\(path.lastName)" == point }
            ?? false
    }

    /// A path from the root on as file managers have it, which look at its names alone.
    private static func absolute(_ path: String) -> String {
        var whole = path
        if !path.hasPrefix("/"), let here = MountTable.resolved(".") {
            // A shell knows the symlinks that the user has gone through.
            let shown = Containers.environment("PWD").flatMap { shown in
                shown.hasPrefix("/") && MountTable.resolved(shown) == here ? shown : nil
            }
            whole = (shown ?? here) + "/" + path
        }
        var names: [Substring] = []
        for name in whole.pathNames where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return "/" + names.joined(separator: "/")
    }

    /// Whether its daemon is gone, so that nothing in it can be used by anybody, ever again.
    ///
    /// Asks for what the kernel does not keep: attributes are answered from its caches for hours. It may
    /// die while it is asked. One that does not answer within two seconds is not dead: who stopped it
    /// may let it go on.
    var isDead: Bool {
        switch MountFile.read(path + "/.shapeedit/status.json", milliseconds: 2_000) {
        case .refused(let problem): problem.code == ENOTCONN || problem.code == ECONNABORTED
        case .bytes, nil: false
        }
    }

    /// Takes the mount away.
    ///
    /// A busy one is asked for again, for half a second: the daemon's own process may be in a call on
    /// it just then. A dead one is detached from the folder even while programs stand in it: all that
    /// is left to them is to leave.
    func unmount() throws(Failure) {
        for _ in 0..<25 {
            do throws(Failure) { return try unmountOnce() } catch {
                guard error.kind == .temporary else { throw error }
            }
            usleep(20_000)
        }
        try unmountOnce(detaching: isDead)
    }

    private func unmountOnce(detaching: Bool = false) throws(Failure) {
        if geteuid() != 0 {
            try UnmountHelper.run(path, detaching: detaching)
        } else if umount2(path.cPath, detaching ? Int32(MNT_DETACH) : 0) != 0 {
            if errno == EBUSY { throw Self.busy(path) }
            throw Failure(.unavailable, "\(path): \(Errno.last)")
        }
    }

    /// What is said to who would mount here.
    var taken: Failure {
        Failure(.temporary, "\(path) is mounted already; `shapeedit unmount \(path)` first")
    }

    /// What is said of a mount that is in use.
    static func busy(_ path: String) -> Failure {
        // No program can be found for that one.
        if let inner = KernelMount.all().last(where: { $0.point.isBelow(path) }) {
            return Failure(
                .temporary, "\(path) is busy: \(inner.point) is mounted in it; unmount that first")
        }
        return Failure(.temporary, "\(path) is busy: a program has files open or stands in it")
    }
}
