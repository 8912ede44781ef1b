internal import Content
internal import Glibc
internal import SystemCalls

/// The time in which everything that was written to a container is there, on its disk or in the kernel's
/// memory: a boot of the machine, and in it one mount of the disk.
struct Boot {
    /// As the catalog records it.
    let text: String

    init(of folder: ContainerFolder) {
        let disk = DiskMount.number(of: folder.path)
        text = Self.machine() + (disk.map { " \($0)" } ?? "")
    }

    /// Whether what was written at the time that is `recorded` is there. Where the kernel does not show the
    /// disk's mount, or did not then, only the machine counts.
    func includes(_ recorded: String?) -> Bool {
        guard isOfMachine(recorded), let now = disk(of: text), let then = recorded.flatMap(disk)
        else { return isOfMachine(recorded) }
        return now == then
    }

    /// Whether the machine was not booted since the time that is `recorded`.
    func isOfMachine(_ recorded: String?) -> Bool {
        recorded?.split(separator: " ").first == text.split(separator: " ").first
    }

    private func disk(of text: String) -> Substring? {
        text.split(separator: " ").dropFirst().first
    }

    /// The kernel's name for this boot.
    private static func machine() -> String {
        guard let file = try? OwnedDescriptor.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
        else { return "" }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        return String(decoding: bytes[..<count].filter { $0 > 32 }, as: UTF8.self)
    }
}
