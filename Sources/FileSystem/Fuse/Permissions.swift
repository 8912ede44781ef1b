internal import CFuseShim
internal import Glibc
internal import Model
internal import SystemCalls

/// Who looks at permissions.
///
/// The kernel does (`default_permissions`), and so it asks for the attributes of a directory again at each name
/// that is made or taken away there: the change before has made them unknown to it. Where only root can come,
/// who may do everything, nobody looks, and that request is saved. What is left is that not even root runs what
/// nobody may: the kernel sees to that where something is run, and ``FuseSession/tellAccess(_:_:_:)`` says it
/// beforehand. Who comes as root and acts for others, as servers of network file systems do, is refused: nobody
/// would look at the rights of those (`root_only` of the shim).
extension FuseSession.Options {
    /// Whether somebody may come who may not do everything.
    var needsPermissions: Bool {
        let asks = ["allow_other", "allow_root", "default_permissions"]
        return fuse.contains(where: asks.contains) || owners != nil
            || geteuid() != 0 || !Capabilities.areThoseOfRoot
    }
}

extension FuseSession {
    /// Answers access(2) and chdir(2) where nobody else looks at permissions.
    func tellAccess(_ request: Request, _ number: UInt64, _ mask: Int32) throws(Errno) {
        let mode = try attributes(number, for: request.caller).status.st_mode
        if mask & X_OK != 0, mode & S_IFMT != S_IFDIR, mode & 0o111 == 0 { throw Errno(EACCES) }
        request.succeed()
    }

    /// The attributes of a node as they are.
    ///
    /// - Parameter isCertain: whether the kernel has made all changes of names that it was answered.
    func attributes(
        _ number: UInt64, for caller: Caller, isCertain: Bool = true
    ) throws(Errno) -> Entry {
        number & VirtualTree.bit != 0
            ? try virtual.attributes(number)
            : try volume.attributes(NodeNumber(rawValue: number), for: caller, isAsked: isCertain)
    }
}
