import Glibc
import Probing
import TestSupport

/// A small disk of a test's own: an image, of ext4 if not said otherwise, on a loop device, which is given back when the
/// test ends in whatever way.
final class SmallDisk {
    /// Whether disks can be made here: by root, with loop devices.
    static let canBeMade =
        geteuid() == 0 && isInstalled("mkfs.ext4") && (try? run(["losetup", "-f"]).status) == 0
    /// The same of disks of btrfs.
    static let canCopy =
        canBeMade && isInstalled("mkfs.btrfs")
        && (try? run(["sh", "-c", "grep -qw btrfs /proc/filesystems || modprobe -q btrfs"]).status)
            == 0
    /// What a skipped test says.
    static let reason = "needs root, mkfs.ext4 and a free loop device"

    /// Where it is mounted; it is empty.
    let mountPoint: String

    private let base: String
    private let guardian: Guardian
    private var thawing: RunningProgram?

    /// Makes and mounts one.
    ///
    /// - Parameters:
    ///   - isCopying: whether it is btrfs, which writes nothing over in its place.
    ///   - features: of ext4 besides the usual ones, as mkfs.ext4 takes them.
    ///   - inodeSize: with 128 bytes there is no room for more of a time than its seconds, as on ext3.
    init(
        mebibytes: Int, isCopying: Bool = false, features: String = "extent", inodeSize: Int = 256
    ) throws {
        base = try TemporaryDirectory.make()
        mountPoint = "\(base)/disk"
        mkdir(mountPoint, 0o755)
        // If the tests are killed, the guard takes the disk away.
        guardian = try Guardian(of: base, mounts: [mountPoint])
        let image = "\(base)/image"
        var commands = [
            ["truncate", "-s", "\(mebibytes)M", image],
            ["mkfs.ext4", "-q", "-m", "0", "-O", features, "-I", "\(inodeSize)", image],
            ["mount", "-o", "loop", image, mountPoint], ["rmdir", "\(mountPoint)/lost+found"],
        ]
        if isCopying {
            commands[1] = ["mkfs.btrfs", "-q", image]
            commands.removeLast()
        }
        for command in commands {
            let result = try run(command)
            guard result.status == 0 else {
                remove()
                throw TestSetupFailure("\(command): \(result)")
            }
        }
    }

    /// Has everything that writes to it wait, from now until ``thaw()``: for at most a minute, in whatever way
    /// the test ends.
    func freeze() throws {
        thawing = try RunningProgram(
            ["sh", "-c", "sleep 60; exec fsfreeze -u \(mountPoint)"].map { Array($0.utf8) })
        try switchFreezing("-f")
    }

    /// Ends what ``freeze()`` began.
    func thaw() throws {
        thawing = nil
        try switchFreezing("-u")
    }

    private func switchFreezing(_ option: String) throws {
        let result = try run(["fsfreeze", option, mountPoint])
        guard result.status == 0 else { throw TestSetupFailure("fsfreeze \(option): \(result)") }
    }

    /// Unmounts and removes it.
    func remove() {
        if thawing != nil { try? thaw() }
        // A daemon that has just been told to end may still be closing files.
        for _ in 0..<600 where (try? run(["umount", mountPoint]).status) != 0 {
            guard MountTable.isMounted(mountPoint) else { break }
            usleep(100_000)
        }
        if MountTable.isMounted(mountPoint) { _ = try? run(["umount", "-l", mountPoint]) }
        TemporaryDirectory.remove(base)
        guardian.dismiss()
    }
}

/// A mounted container on a small disk of its own; whoever makes one has to remove both, the container first.
func smallContainer(_ dataPath: DataPath = .passthrough) throws -> (SmallDisk, Container) {
    let disk = try SmallDisk(mebibytes: 64)
    let container = try Container(dataHome: disk.mountPoint)
    try container.mount(options: dataPath == .noPassthrough ? ["no_passthrough"] : [])
    return (disk, container)
}
