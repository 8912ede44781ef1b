internal import Glibc
internal import Probing

/// The kernel's list of mounts, which can be read without asking any daemon.
package enum MountTable {
    /// Whether something is mounted there.
    package static func isMounted(_ mountPoint: String) -> Bool {
        connection(of: mountPoint) != nil
    }

    /// The FUSE connection's number of a mount: the minor number of its device.
    package static func connection(of mountPoint: String) -> String? {
        for line in lines() {
            // 36 35 0:98 / /mnt rw - fuse.x x rw
            let fields = line.split(separator: " ")
            guard fields.count > 4, fields[4] == mountPoint else { continue }
            return fields[2].split(separator: ":").last.map(String.init)
        }
        return nil
    }

    /// Detaches a mount whatever its daemon does, and ends all requests that wait for it.
    package static func detach(_ mountPoint: String) {
        while let connection = connection(of: mountPoint) {
            let before = lines().count
            if let file = fopen("/sys/fs/fuse/connections/\(connection)/abort", "w") {
                fputs("1", file)
                fclose(file)
            }
            if umount2(mountPoint, Int32(MNT_DETACH)) != 0 {
                _ = try? Probing.run(["fusermount3", "-uz", mountPoint])
            }
            if lines().count >= before { return }
        }
    }

    private static func lines() -> [Substring] {
        guard let file = fopen("/proc/self/mountinfo", "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
