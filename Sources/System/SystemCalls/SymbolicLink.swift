internal import Glibc
internal import PathText

/// Symlinks, and what the kernel shows as such.
package enum SymbolicLink {
    /// What the link at `path` says, as it says it.
    package static func target(of path: String) throws(Errno) -> [UInt8] {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try check { readlink(path.cPath, &text, text.count) }
        return text[..<count].map { UInt8(bitPattern: $0) }
    }

    /// Where a file is made that is opened by `path`: a symlink to nothing stands for what it leads to. Only where
    /// the kernel follows it, which does not follow a stranger's in /tmp.
    package static func end(of path: String) -> String {
        var place = path
        while access(place.cPath, F_OK) != 0, Errno.last.code == ENOENT,
            let text = try? target(of: place)
        {
            let target = String(path: text)
            let folder = place.lastSlash == nil ? "" : place.parentPath + "/"
            place = target.hasPrefix("/") ? target : folder + target
        }
        return place
    }
}

extension OwnedDescriptor {
    /// Where the kernel has the file now, also after it was moved; of one that has no name any more, a
    /// path that leads nowhere. `nil` if /proc is not there.
    package var path: String? {
        let target = try? SymbolicLink.target(of: "/proc/self/fd/\(number)")
        return target.map { String(path: $0) }
    }
}
