import Glibc
import Probing

/// Cleans up after a test process that died: `guard DIRECTORY MOUNTPOINT...`.
///
/// Waits for a byte on standard input, which means "all done"; end of file without one means that
/// the tests are gone, and then the mounts are detached and the temporary directory is removed.
func guardMounts(_ arguments: ArraySlice<String>) -> Never {
    var byte: UInt8 = 0
    if read(0, &byte, 1) == 1 { exit(0) }
    guard let directory = arguments.first else { exit(EX_USAGE) }
    for mountPoint in arguments.dropFirst() {
        _ = try? run(["fusermount3", "-uz", mountPoint])
        _ = try? run(["umount", "-l", mountPoint])
    }
    // Never through a mount that is still there.
    _ = try? run(["rm", "-rf", "--one-file-system", directory])
    exit(0)
}
