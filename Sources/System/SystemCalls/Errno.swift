internal import Glibc

/// A system call's error number, thrown by the wrappers of this module.
public struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    /// One of the `E...` values of errno.h.
    public let code: Int32

    /// Wraps an errno value.
    public init(_ code: Int32) { self.code = code }

    /// Whether there was no room for what was to be written: the disk is full, or the user has used up what
    /// their quota gives them of it, which is none the less a full disk to them.
    public var isNoRoom: Bool { code == ENOSPC || code == EDQUOT }

    /// The calling thread's `errno`.
    public static var last: Errno { Errno(Glibc.errno) }

    /// The C library's words for it.
    public var description: String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

/// Calls `body` until it is not interrupted by a signal; throws the error of a negative result.
@discardableResult
@inline(__always)
public func check<Result: SignedInteger>(_ body: () -> Result) throws(Errno) -> Result {
    if let injected = FaultInjection.next() { throw Errno(injected) }
    while true {
        let result = body()
        if result >= 0 { return result }
        let code = Glibc.errno
        if code != EINTR { throw Errno(code) }
    }
}
