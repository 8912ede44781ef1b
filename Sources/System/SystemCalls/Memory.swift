internal import CSystemShim
internal import Glibc

/// How this process gets memory from the system.
public enum Memory {
    /// Bytes that a pool of memory grows by when it is used up.
    private static let step: Int32 = 1 << 20
    /// Bytes that have to be free at a pool's end before they are given back at once. ``trim()`` gives
    /// only those at the end of the first thread's pool back: what another thread has used once and
    /// needs no more would stay for ever, up to so much for each.
    private static let excess: Int32 = 8 << 20

    /// For a process that serves requests for long: its pools grow and shrink in large steps, since
    /// each step is a system call in the middle of a request. ``trim()`` is to be called now and then.
    public static func serve() {
        shim_pad_memory(step, excess)
    }

    /// For a process of many threads, before it starts them: they share as many pools as there are
    /// processors. The C library makes eight times as many, and each keeps what one of its threads needed
    /// once.
    public static func sharePools() {
        shim_limit_pools(max(2, Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    }

    /// For a process that takes and frees the same megabytes again and again, and else as ``serve()``:
    /// fresh pages from the system cost a fault each, a third of the time that a small picture takes.
    public static func serveLargeBlocks() {
        shim_pad_memory(step, largeExcess)
        shim_pool_memory(block)
    }

    /// The largest block that stays in the pools, in bytes; the most that the C library takes.
    private static let block: Int32 = 32 << 20
    /// Bytes that have to be free at a pool's end where such blocks stay: two of them.
    private static let largeExcess = 2 * block

    /// Bytes that were taken and not freed, without blocks so large that they have mappings of their own.
    /// Looks through all that is free: not for each small thing.
    public static var inUse: Int { Int(shim_used_memory()) }

    /// Gives memory that was freed back to the system.
    public static func trim() { shim_trim_memory() }
}
