internal import Glibc
internal import SystemCalls

/// Files that programs of the machine put where all look for them.
package enum SharedData {
    /// The folders, those that count most first.
    package static var folders: [String] {
        let own =
            WorkerEnvironment.variable("XDG_DATA_HOME")
            ?? WorkerEnvironment.variable("HOME").map { $0 + "/.local/share" }
        let shared = WorkerEnvironment.variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        return (own.map { [$0] } ?? []) + shared.split(separator: ":").map(String.init)
    }

    /// The text of a file up to a size; nil if it is larger or cannot be read.
    static func text(of path: String, limit: Int) -> String? {
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK) else { return nil }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        guard let count = bytes.withUnsafeMutableBytes({ try? file.read(into: $0, at: 0) }),
            count <= limit
        else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
