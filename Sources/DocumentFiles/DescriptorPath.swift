internal import Glibc
package import SystemCalls

/// Paths that mean a descriptor of this process, such as `/dev/stdout` and `/dev/fd/3`.
package enum DescriptorPath {
    /// The number of the descriptor; `nil` for every other path.
    package static func number(_ path: String) -> Int32? {
        if let number = ["/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2][path] {
            return Int32(number)
        }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            let digits = path.dropFirst(folder.count)
            return digits.utf8.allSatisfy { (48...57).contains($0) } ? Int32(digits) : nil
        }
        return nil
    }

    /// Another descriptor of the same open file, which goes on where that one is; `nil` for every other
    /// path. Opening the path would begin anew, and sockets cannot be opened.
    package static func duplicate(_ path: String) throws(Errno) -> OwnedDescriptor? {
        guard let number = number(path) else { return nil }
        return OwnedDescriptor(adopting: try check { fcntl(number, F_DUPFD_CLOEXEC, 0) })
    }
}
