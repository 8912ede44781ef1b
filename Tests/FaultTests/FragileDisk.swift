import Glibc
import Probing
import TestSupport

/// A disk that can lose power: an ext4 image on a loop device, in an XFS that clones the image in
/// one moment. The clone has what the device had got by then, and nothing of what was still in the
/// kernel's cache.
///
/// A device with a cache of its own that writes in another order than it was told is not this one.
final class FragileDisk {
    /// Whether such disks can be made here.
    static let canBeMade =
        geteuid() == 0 && isInstalled("mkfs.ext4") && isInstalled("mkfs.xfs")
        && (try? run(["losetup", "-f"]).status) == 0
    /// What a skipped test says.
    static let reason = "needs root, mkfs.ext4, mkfs.xfs and free loop devices"

    /// Where it is mounted; it is empty.
    let mountPoint: String

    private let mebibytes: Int
    private let inodeSize: Int
    private let base: String
    private let outer: String
    private let guardian: Guardian

    /// Makes and mounts one.
    ///
    /// - Parameter inodeSize: with 128 bytes it tells times by the second (``SmallDisk``).
    init(mebibytes: Int, inodeSize: Int = 256) throws {
        self.mebibytes = mebibytes
        self.inodeSize = inodeSize
        base = try TemporaryDirectory.make()
        (outer, mountPoint) = ("\(base)/outer", "\(base)/disk")
        // If the tests are killed, the guard takes the disks away.
        guardian = try Guardian(of: base, mounts: [mountPoint, outer])
        do {
            for directory in [outer, mountPoint] { mkdir(directory, 0o755) }
            try command("truncate", "-s", "\(4 * mebibytes)M", "\(base)/outer.image")
            try command("mkfs.xfs", "-q", "-m", "reflink=1", "\(base)/outer.image")
            try command("mount", "-o", "loop", "\(base)/outer.image", outer)
            try command("truncate", "-s", "\(mebibytes)M", "\(outer)/image")
            try command("mkfs.ext4", "-q", "-m", "0", "-I", "\(inodeSize)", "\(outer)/image")
            try powerOn()
        } catch {
            remove()
            throw error
        }
    }

    private func powerOn() throws {
        try command("mount", "-o", "loop", "\(outer)/image", mountPoint)
    }

    /// Keeps what would be there if the power went now.
    func losePower() throws {
        try command("cp", "--reflink=always", "\(outer)/image", "\(outer)/lost")
    }

    /// Goes on with what was there when ``losePower()`` was called. Nobody may use the disk.
    func returnPower() throws {
        try unmount(mountPoint)
        try command("mv", "\(outer)/lost", "\(outer)/image")
        try powerOn()
    }

    // MARK: Room below

    /// From now on nothing comes to places where the disk has nothing yet: what it lies on is full, as of a
    /// virtual machine whose host has no room left. What can be written over can be.
    func takeRoomBelow() throws {
        try command("fallocate", "-l", "\(mebibytes)M", "\(outer)/image")
        try command("fstrim", mountPoint)
        // Until there is no more.
        for size in ["1G", "64M", "4M", "256K", "4K"] {
            for number in 0..<64 {
                let filler = "\(outer)/filler \(size) \(number)"
                guard try run(["fallocate", "-l", size, filler]).status == 0 else { break }
            }
        }
    }

    /// There is room again.
    func giveRoomBelow() throws {
        try command("find", outer, "-name", "filler*", "-delete")
    }

    /// Has the kernel write what it has for the disk; says whether it could.
    func writeOut() throws -> Bool { try run(["sync", "-f", mountPoint]).status == 0 }

    private func command(_ words: String...) throws {
        let result = try run(words)
        guard result.status == 0 else { throw TestSetupFailure("\(words): \(result)") }
    }

    private func unmount(_ place: String) throws {
        // A daemon that has just been killed may still be closing files.
        for _ in 0..<600 where MountTable.isMounted(place) {
            if try run(["umount", place]).status == 0 { return }
            usleep(100_000)
        }
        if MountTable.isMounted(place) { throw TestSetupFailure("\(place) stays mounted") }
    }

    /// Unmounts and removes it.
    func remove() {
        for place in [mountPoint, outer] {
            do { try unmount(place) } catch { _ = try? run(["umount", "-l", place]) }
        }
        TemporaryDirectory.remove(base)
        guardian.dismiss()
    }
}
