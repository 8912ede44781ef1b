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

    /// Its path; it is made if it is not there.
    ///
    /// - Parameter folder: where it lies; `nil` for the root of the mounted container that the
    ///   current folder is in, else the current folder.
    static func path(in folder: String?) throws(Failure) -> String {
        let path = (folder ?? containerRoot() ?? ".") + "/" + name
        if FileStamp(path: path) != nil { return path }
        do throws(Failure) {
            try DocumentFile.create(path, .list(TaskList()))
        } catch {
            // Another program was first.
            guard error.kind == .cannotCreate, FileStamp(path: path) != nil else { throw error }
        }
        return path
    }

    private static func containerRoot() -> String? {
        MountTable.resolved(".").flatMap(MountTable.mountPoint)
    }
}
