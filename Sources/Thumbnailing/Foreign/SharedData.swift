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
    ///
    /// - Parameter shortage: set if that is for want of descriptors or memory, and may be otherwise in a moment.
    static func text(of path: String, limit: Int, _ shortage: inout Errno?) -> String? {
        orNone(&shortage) { () throws(Errno) in
            let file = try OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK)
            var bytes = [UInt8](repeating: 0, count: limit + 1)
            let count = try file.read(into: &bytes, at: 0)
            return count <= limit ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }
    }

    /// What there is; nil if that cannot be said, for which `shortage` is set as by the above.
    static func orNone<Found>(_ shortage: inout Errno?, _ look: () throws(Errno) -> Found?)
        -> Found?
    {
        do throws(Errno) { return try look() } catch {
            if [EMFILE, ENFILE, ENOMEM].contains(error.code) { shortage = error }
            return nil
        }
    }
}
