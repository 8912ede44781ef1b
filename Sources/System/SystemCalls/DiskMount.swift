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
    /// all bind mounts. `nil` where the kernel shows none; fails where it does not say.
    package static func number(of path: String) throws(Errno) -> UInt64? {
        var status = stat()
        try check { stat(path.cPath, &status) }
        let device = DeviceNumber(UInt64(status.st_dev))
        let link = "/sys/dev/block/\(device.major):\(device.minor)"
        let target = try ifShown { () throws(Errno) in try SymbolicLink.target(of: link) }
        guard let target, let disk = String(path: target).split(separator: "/").last else {
            return nil
        }
        for fileSystem in shown {
            if let number = try number(of: disk, in: fileSystem) { return number }
        }
        return nil
    }

    /// Whether the mount of a disk that had this number is still there; fails where the kernel does not say.
    package static func isThere(_ wanted: UInt64) throws(Errno) -> Bool {
        for fileSystem in shown {
            let disks = try ifShown { () throws(Errno) in
                try Directories.names(in: "/sys/fs/\(fileSystem)")
            }
            for disk in disks ?? [] {
                if try number(of: disk[...], in: fileSystem) == wanted { return true }
            }
        }
        return false
    }

    private static func number(of disk: Substring, in fileSystem: String) throws(Errno) -> UInt64? {
        var status = stat()
        let path = "/sys/fs/\(fileSystem)/\(disk)"
        let isShown = try ifShown { () throws(Errno) in try check { stat(path.cPath, &status) } }
        return isShown == nil ? nil : UInt64(status.st_ino)
    }

    /// What is read of sysfs; `nil` where that does not have it, is not mounted, or may not be read.
    private static func ifShown<Result>(_ read: () throws(Errno) -> Result) throws(Errno) -> Result?
    {
        do throws(Errno) { return try read() } catch {
            if [ENOENT, ENOTDIR, EACCES, EPERM].contains(error.code) { return nil }
            throw error
        }
    }
}
