import Glibc
import Model
import SystemCalls

/// fusermount3 -u, for those who may not call umount.
enum UnmountHelper {
    /// Takes the mount away. Only a busy one is called busy; else the helper's own words are passed
    /// on.
    ///
    /// - Parameter detaching: takes it out of sight also while it is in use.
    static func run(_ point: String, detaching: Bool) throws(Failure) {
        let answer: String?
        do throws(Errno) {
            answer = try MountHelper.unmount(point, detaching: detaching)
        } catch {
            if error.code == ENOENT || error.code == EACCES { throw Requirements.missingHelper }
            throw Failure(.system, "fusermount3: \(error)")
        }
        guard let answer else { return }
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
}
