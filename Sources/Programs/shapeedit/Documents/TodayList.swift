import DocumentFiles
import DocumentKit
import Documents
import Editing
import Glibc
import Model
import SystemCalls

/// The list of what is to be done today: one in each container.
enum TodayList {
    static let name = "Today.list"

    /// Its path.
    ///
    /// - Parameter folder: where it lies; `nil` for the root of the mounted container that the
    ///   current folder is in, else the current folder.
    static func path(in folder: String?) throws(Failure) -> String {
        guard let folder else { return (containerRoot() ?? ".") + "/" + name }
        // Not what begins at the root of all folders.
        if folder.isEmpty { throw Failure(folder, Errno(ENOENT)) }
        return folder + "/" + name
    }

    static func isThere(_ path: String) -> Bool { FileStamp(path: path) != nil }

    /// Makes it if it is not there.
    ///
    /// - Parameter dryRun: only fails if there is no folder to make it in.
    /// - Returns: whether it was made.
    static func make(_ path: String, dryRun: Bool) throws(Failure) -> Bool {
        if isThere(path) { return false }
        if dryRun {
            guard FileStamp(path: String(path.dropLast(name.count)) + ".") != nil else {
                throw Failure(.cannotCreate, "\(path): there is no such folder")
            }
            return false
        }
        do throws(Failure) {
            try DocumentFile.create(path, .list(TaskList()))
            return true
        } catch {
            // Another program was first.
            guard error.kind == .cannotCreate, isThere(path) else { throw error }
            return false
        }
    }

    private static func containerRoot() -> String? {
        MountTable.resolved(".").flatMap(MountTable.mountPoint)
    }
}
