internal import Glibc

/// The mounts of ShapeEdit on this machine, as the kernel tells them.
package enum MountTable {
    /// Mount points of type fuse.shapeedit, the last mounted last.
    package static func mountPoints() -> [String] {
        guard let file = fopen("/proc/self/mountinfo", "re") else { return [] }
        defer { fclose(file) }
        var list: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0 {
            guard let line else { break }
            let fields = String(cString: line).split(separator: " ")
            // ... mount point is the fifth; the type follows the lone dash.
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"),
                dash + 1 < fields.count, fields[dash + 1] == "fuse.shapeedit"
            else { continue }
            list.append(unescaped(fields[4]))
        }
        return list
    }

    /// The mount that has an absolute path without symlinks; `nil` outside of all.
    package static func mountPoint(of path: String) -> String? {
        mountPoints().filter { isBelow(path, $0) }.max { $0.utf8.count < $1.utf8.count }
    }

    /// Whether a path is a folder or something in it.
    package static func isBelow(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder + "/")
    }

    /// The kernel writes blanks and backslashes as octal escapes.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
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
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The absolute path of `path` without symlinks; `nil` if it does not exist.
    package static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
