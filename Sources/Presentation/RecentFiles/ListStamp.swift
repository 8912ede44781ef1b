internal import Glibc
internal import PathText

/// Tells one state of a file from another; all zero for one that is not there.
package struct ListStamp: Equatable, Sendable {
    /// Number, size, seconds and nanoseconds of the last change.
    let numbers: [Int64]

    /// That of no file.
    package static let missing = ListStamp([0, 0, 0, 0])

    private init(_ numbers: [Int64]) { self.numbers = numbers }

    /// The file of that path, which is not followed if it is a symlink.
    package init(ofFile path: String) {
        var status = stat()
        guard lstat(path.cPath, &status) == 0 else {
            self = .missing
            return
        }
        numbers = [
            Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
        ]
    }

    init?(numbers: [Int64]) {
        guard numbers.count == 4 else { return nil }
        self.numbers = numbers
    }
}
