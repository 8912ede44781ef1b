import Glibc
import PathText
import SystemCalls

/// Where a folder is that may still have to be made: the nearest one above it that is there, known by what
/// it is and not by the path that leads to it, and the names below that are missing.
struct FolderPlace: Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let missing: [Substring]
}

extension FolderPlace {
    /// Symlinks that lead to nothing, one after the other: as the kernel follows.
    private static let mostLinks = 40

    /// `nil` if nothing on the way can be looked at.
    init?(_ path: String) {
        self.init(path.split(separator: "/"), links: Self.mostLinks)
    }

    private init?(_ names: [Substring], links: Int) {
        var status = stat()
        var found = names.count
        func path(_ count: Int) -> String { "/" + names[..<count].joined(separator: "/") }
        while stat(path(found).cPath, &status) != 0 {
            if found == 0 { return nil }
            // What it leads to may be made by another path.
            if links > 0, let target = try? SymbolicLink.target(of: path(found)) {
                let text = String(path: target)
                let above = text.hasPrefix("/") ? [] : Array(names[..<(found - 1)])
                self.init(above + text.split(separator: "/") + names[found...], links: links - 1)
                return
            }
            found -= 1
        }
        // What is made on the way are folders and no links, so that two dots lead back.
        var missing: [Substring] = []
        for name in names[found...] where name != "." {
            if name == ".." { _ = missing.popLast() } else { missing.append(name) }
        }
        if missing.count < names.count - found {
            self.init(names[..<found] + missing, links: links)
        } else {
            self.init(
                device: UInt64(status.st_dev), inode: UInt64(status.st_ino), missing: missing)
        }
    }
}
