internal import Glibc
internal import PathText

/// The time for which a disk's file system is mounted somewhere.
///
/// What the kernel had not written when it was taken away, as when a disk is unplugged or was switched off
/// by an error, is gone then as after a loss of power.
package enum DiskMount {
    /// File systems that have a directory in sysfs for each disk, from its mount to its unmount.
    private static let shown = ["ext4", "xfs", "f2fs"]

    /// A number that no other mount of any disk has or had in this boot; the same in all namespaces and for
    /// all bind mounts. `nil` where the kernel shows none.
    package static func number(of path: String) -> UInt64? {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { return nil }
        let device = DeviceNumber(UInt64(status.st_dev))
        guard
            let target = try? SymbolicLink.target(
                of: "/sys/dev/block/\(device.major):\(device.minor)"),
            let disk = String(path: target).split(separator: "/").last
        else { return nil }
        for fileSystem in shown where stat("/sys/fs/\(fileSystem)/\(disk)".cPath, &status) == 0 {
            return UInt64(status.st_ino)
        }
        return nil
    }

    /// Whether the mount of a disk that had this number is still there.
    package static func isThere(_ number: UInt64) -> Bool {
        shown.contains { fileSystem in
            let folder = "/sys/fs/\(fileSystem)"
            return ((try? Directories.names(in: folder)) ?? []).contains { disk in
                var status = stat()
                return stat("\(folder)/\(disk)".cPath, &status) == 0
                    && UInt64(status.st_ino) == number
            }
        }
    }
}
