internal import CSystemShim

/// How this process gets memory from the system.
public enum Memory {
    /// Bytes that a pool of memory grows by when it is used up.
    private static let step: Int32 = 1 << 20
    /// Bytes that have to be free at a pool's end before they are given back at once.
    private static let excess: Int32 = 64 << 20

    /// For a process that serves requests for long: its pools grow and shrink in large steps, since
    /// each step is a system call in the middle of a request. ``trim()`` is to be called now and then.
    public static func serve() {
        shim_pad_memory(step, excess)
    }

    /// Gives memory that was freed back to the system.
    public static func trim() { shim_trim_memory() }
}
