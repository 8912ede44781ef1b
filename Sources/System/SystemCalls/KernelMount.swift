internal import Glibc
internal import PathText

/// A mount that this process sees, as the kernel tells of it.
public struct KernelMount: Sendable {
    /// Its device, as in `0:57`.
    public let device: String
    /// The folder of its file system that it shows: `/`, but where a part of one is shown elsewhere
    /// (`mount --bind`).
    public let root: String
    /// Where it is mounted; absolute.
    public let point: String
    /// The type of its file system.
    public let type: String
    /// Who mounted it, as FUSE tells.
    public let user: UInt32?

    /// All of them, the last mounted last; none where the kernel does not tell.
    public static func all() -> [KernelMount] {
        guard let file = fopen("/proc/self/mountinfo", "re") else { return [] }
        defer { fclose(file) }
        var list: [KernelMount] = []
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0 {
            guard let line else { break }
            let fields = String(cPath: line).split(separator: " ")
            // ... the device is the third, then come the root and the mount point; the type follows the lone dash.
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
            else { continue }
            list.append(
                KernelMount(
                    device: String(fields[2]), root: unescaped(fields[3]),
                    point: unescaped(fields[4]), type: String(fields[dash + 1]),
                    user: fields.dropFirst(dash + 3).first.flatMap(user)))
        }
        return list
    }

    /// Whether its file system is mounted still, here or elsewhere.
    public var isThere: Bool {
        Self.all().contains { $0.device == device && $0.type == type }
    }

    /// What is mounted at that very path, over all else there.
    public static func topmost(at path: String) -> KernelMount? {
        all().last { $0.isMounted(at: path) }
    }

    /// Of options such as `rw,user_id=1000,group_id=1000`.
    private static func user(_ options: Substring) -> UInt32? {
        options.split(separator: ",").first { $0.hasPrefix("user_id=") }
            .flatMap { UInt32($0.dropFirst("user_id=".count)) }
    }

    /// The kernel writes blanks and backslashes as octal escapes.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = String(text).pathBytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(path: bytes)
    }

    /// Whether it is mounted at that very path: of those that look alike each is another one.
    public func isMounted(at path: String) -> Bool { PathKey(point) == PathKey(path) }

    /// Whether it is one of ShapeEdit.
    public var isShapeEdit: Bool { type == "fuse.shapeedit" }
}
