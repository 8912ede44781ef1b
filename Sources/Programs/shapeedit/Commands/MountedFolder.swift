import DocumentKit
import Model
import SystemCalls

/// A folder that a command is to look below.
enum MountedFolder {
    /// Throws if it is neither in a mount nor has one in it.
    static func check(_ folder: String) throws(Failure) {
        guard let place = MountTable.resolved(folder) else {
            throw Failure(.noInput, "\(folder): \(Errno.last)")
        }
        let isMounted = MountTable.mountPoints().contains { point in
            MountTable.isBelow(place, point) || MountTable.isBelow(point, place)
        }
        if !isMounted { throw Failure.notMounted(folder) }
    }
}
