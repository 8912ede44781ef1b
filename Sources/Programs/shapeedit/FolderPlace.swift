import Glibc
import PathText

/// Where a folder is that may still have to be made: the nearest one above it that is there, known by what
/// it is and not by the path that leads to it, and the names below that are missing.
struct FolderPlace: Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let missing: [Substring]
}

extension FolderPlace {
    /// `nil` if nothing on the way can be looked at.
    init?(_ path: String) {
        self.init(path.split(separator: "/"))
    }

    private init?(_ names: [Substring]) {
        var status = stat()
        var found = names.count
        while stat(("/" + names[..<found].joined(separator: "/")).cPath, &status) != 0 {
            if found == 0 { return nil }
            found -= 1
        }
        // What is made on the way are folders and no links, so that two dots lead back.
        var missing: [Substring] = []
        for name in names[found...] where name != "." {
            if name == ".." { _ = missing.popLast() } else { missing.append(name) }
        }
        if missing.count < names.count - found {
            self.init(names[..<found] + missing)
        } else {
            self.init(
                device: UInt64(status.st_dev), inode: UInt64(status.st_ino), missing: missing)
        }
    }
}
