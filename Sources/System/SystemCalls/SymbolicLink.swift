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
}

extension OwnedDescriptor {
    /// Where the kernel has the file now, also after it was moved; of one that has no name any more, a
    /// path that leads nowhere. `nil` if /proc is not there.
    package var path: String? {
        let target = try? SymbolicLink.target(of: "/proc/self/fd/\(number)")
        return target.map { String(path: $0) }
    }
}
