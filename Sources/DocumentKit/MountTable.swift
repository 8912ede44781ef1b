internal import Documents
internal import Glibc
internal import PathText
internal import SystemCalls

/// The mounts of ShapeEdit on this machine, as the kernel tells them.
package enum MountTable {
    /// Mount points of type fuse.shapeedit, the last mounted last.
    package static func mountPoints() -> [String] {
        KernelMount.all().filter(\.isShapeEdit).map(\.point)
    }

    /// Whether something of ShapeEdit is mounted at an absolute path without symlinks.
    package static func isMounted(_ point: String) -> Bool { count(at: point) > 0 }

    /// How many of them are stacked there.
    package static func count(at point: String) -> Int {
        KernelMount.all().count { $0.isShapeEdit && $0.isMounted(at: point) }
    }

    /// How long a mount may take to answer where others are asked too, in milliseconds.
    private static let patience: UInt64 = 5_000

    /// Whether the daemon of a mount answers, be it with a refusal: one that hangs keeps nobody
    /// from hearing of the others.
    package static func answers(_ point: String) -> Bool { answer(of: point) != nil }

    /// Its status; `nil` also from one that does not answer in that time.
    static func status(_ point: String) -> JSONObject? { answer(of: point) ?? nil }

    /// The process that serves a mount; `nil` if it does not say so in that time.
    package static func server(of point: String) -> Int32? {
        status(point)?["process"]?.integer.flatMap(Int32.init(exactly:))
    }

    private static func answer(of point: String) -> JSONObject?? {
        // To open a file is what the kernel cannot answer by itself.
        switch MountFile.read("\(point)/\(ControlConnection.statusPath)", milliseconds: patience) {
        case nil: nil
        case .refused: .some(nil)
        case .bytes(let bytes): .some((try? JSONValue.read(bytes))?.object)
        }
    }

    /// The mount that has an absolute path without symlinks; `nil` outside of all.
    package static func mountPoint(of path: String) -> String? {
        mountPoints().filter { isBelow(path, $0) }.max { $0.utf8.count < $1.utf8.count }
    }

    /// Whether a path is a folder or something in it.
    package static func isBelow(_ path: String, _ folder: String) -> Bool {
        path.utf8.elementsEqual(folder.utf8) || path.isBelow(folder)
    }

    /// The absolute path of `path` without symlinks; `nil` if it does not exist.
    package static func resolved(_ path: String) -> String? {
        guard let text = realpath(path.cPath, nil) else { return nil }
        defer { free(text) }
        return String(cPath: text)
    }
}
