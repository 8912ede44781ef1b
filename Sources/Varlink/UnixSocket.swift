internal import Glibc
internal import Model
internal import PathText
package import SystemCalls

/// Sockets of the file system; an address that begins with "@" is an abstract one, in no file system.
package enum UnixSocket {
    /// Listens at `path`, mode 0600. A socket that nobody answers on is replaced.
    static func listen(at path: String) throws(Failure) -> OwnedDescriptor {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        func failed(_ what: String, _ error: Errno) -> Failure {
            Failure(.cannotCreate, "\(what): \(error)")
        }
        if mkdir(folder.cPath, 0o700) != 0, errno != EEXIST { throw failed(folder, Errno.last) }
        var status = stat()
        if lstat(folder.cPath, &status) != 0 { throw failed(folder, Errno.last) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw Failure(.noPermission, "\(folder) is not a folder of yours")
        }
        if status.st_mode & 0o077 != 0, chmod(folder.cPath, 0o700) != 0 {
            throw failed(folder, Errno.last)
        }
        if access(path.cPath, F_OK) == 0 {
            if (try? connect(to: path)) != nil {
                throw Failure(.temporary, "\(path) is served by another mount of that name")
            }
            unlink(path.cPath)
        }
        do throws(Errno) {
            return try bound(path, mode: 0o600)
        } catch {
            throw failed(path, error)
        }
    }

    /// Listens at an abstract address; anybody of the machine may connect who knows it. Accepting waits.
    package static func listen(abstract address: String) throws(Errno) -> OwnedDescriptor {
        try bound(address, isBlocking: true)
    }

    private static func bound(
        _ path: String, mode: mode_t? = nil, isBlocking: Bool = false
    ) throws(Errno) -> OwnedDescriptor {
        let descriptor = try make(isBlocking: isBlocking)
        // Before it has its name: nobody else may connect for a moment either. Other threads make files
        // meanwhile, for which a umask would hold too.
        if let mode { try check { fchmod(descriptor.number, mode) } }
        var address = try address(path)
        try check {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        // As many as the kernel lets wait: one that does not wait itself is refused when there are more (EAGAIN).
        try check { Glibc.listen(descriptor.number, SOMAXCONN) }
        return descriptor
    }

    /// Connects to the socket at `path`; the calls on it wait.
    package static func connect(to path: String) throws(Errno) -> OwnedDescriptor {
        let descriptor = try make(isBlocking: true)
        var address = try address(path)
        try check {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(
                        descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        return descriptor
    }

    private static func make(isBlocking: Bool = false) throws(Errno) -> OwnedDescriptor {
        let flags =
            SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        return OwnedDescriptor(adopting: try check { socket(AF_UNIX, Int32(flags), 0) })
    }

    private static func address(_ path: String) throws(Errno) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.pathBytes + [0]
        if bytes.count > MemoryLayout.size(ofValue: address.sun_path) { throw Errno(ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0.copyBytes(from: bytes)
            if bytes[0] == UInt8(ascii: "@") { $0[0] = 0 }
        }
        return address
    }
}
