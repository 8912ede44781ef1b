internal import Glibc
internal import PathText
internal import SystemCalls

/// Where the process that repeats changes makes its calls: on the mount of its daemon, and nowhere else.
///
/// The mount may be gone when a call is to be made. The folder below it, or another mount that has come
/// there, is not to be changed.
enum ReplayPlace {
    /// A name at the root that the daemon answers its own process so as nobody else is answered.
    static let proof = ".shapeedit-replay"
    static let answer = ENOTUNIQ

    /// Runs `body` with the root of the mount as the current directory, which keeps it there meanwhile.
    /// Throws ENXIO if something else is there.
    static func stand(in mountPoint: [UInt8], _ body: () throws(Errno) -> Void) throws(Errno) {
        try check { chdir(mountPoint.cPath) }
        // Nothing of the mount stays in use.
        defer { _ = chdir("/") }
        var status = stat()
        guard lstat(proof.cPath, &status) != 0, errno == answer else { throw Errno(ENXIO) }
        try body()
    }
}
