import Glibc
import Model
import SystemCalls

/// What the machine has to have before anything can be mounted.
enum Requirements {
    /// Fails with what is missing and what to do about it.
    static func check() throws(Failure) {
        try checkDevice()
        // Root mounts by itself; everybody else through the helper.
        if geteuid() != 0, MountHelper.path == nil { throw missingHelper }
    }

    private static func checkDevice() throws(Failure) {
        let device = "/dev/fuse"
        do throws(Errno) { _ = try OwnedDescriptor.open(device, O_RDWR) } catch {
            switch error.code {
            case ENOENT:
                throw Failure(
                    .unavailable,
                    "\(device) is missing: load the module (`modprobe fuse`), or allow the device in "
                        + "this container")
            case ENODEV, ENXIO:
                throw Failure(
                    .unavailable, "\(device): \(error): load the module (`modprobe fuse`)")
            case EACCES, EPERM:
                throw Failure(
                    .noPermission,
                    "\(device): \(error): it has to be open to you (usual is `chmod 666 \(device)`)"
                )
            default: throw Failure(.unavailable, "\(device): \(error)")
            }
        }
    }

    static let missingHelper = Failure(
        .unavailable, "fusermount3 is not installed: `apt install fuse3`, or ask root")
}
