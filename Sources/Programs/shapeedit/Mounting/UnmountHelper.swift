import Glibc
import Model
import PathText
import SystemCalls

/// fusermount3 -u, for those who may not call umount.
enum UnmountHelper {
    /// Takes the mount away. Only a busy one is called busy; else the helper's own words are passed
    /// on.
    ///
    /// - Parameter detaching: takes it out of sight also while it is in use.
    static func run(_ point: String, detaching: Bool) throws(Failure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(.system, "pipe: \(Errno.last)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        let words = ["fusermount3", "-u"] + (detaching ? ["-z"] : []) + ["--", point]
        var child = pid_t()
        let started = words.withProgramWords {
            posix_spawnp(&child, "fusermount3", &actions, nil, $0, environ)
        }
        close(ends[1])
        if started == ENOENT || started == EACCES { throw Requirements.missingHelper }
        if started != 0 { throw Failure(.system, "fusermount3: \(Errno(started))") }
        let answer = readAll(ends[0])
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if status == 0 { return }
        if answer.hasSuffix(Errno(EBUSY).description) { throw MountPoint.busy(point) }
        // To the helper there is no such mount then.
        let mount = KernelMount.topmost(at: point)
        if let user = mount?.user, user != getuid() {
            throw Failure(
                .noPermission,
                "\(point) was mounted by another user (\(user)): only they and root can unmount it")
        }
        throw Failure(
            .unavailable,
            answer.isEmpty ? "\(point): fusermount3 could not take it away" : answer)
    }

    private static func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        while bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
