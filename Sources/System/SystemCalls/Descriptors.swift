internal import Glibc

/// Descriptors that nobody here owns: standard input, output and error.
public enum Descriptors {
    /// Two stream sockets that are connected with each other and closed by exec, to be adopted at once.
    ///
    /// Also in the place of a pipe: Swift does not see pipe2, and without close-on-exec from the start
    /// another thread's program could keep one open.
    public static func socketPair() throws(Errno) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try check {
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        }
        return (ends[0], ends[1])
    }

    /// The number of standard output.
    public static let output: Int32 = 1
    /// The number of standard error.
    public static let error: Int32 = 2

    /// Sees to it that no file gets the number of a standard stream that this program was started without:
    /// what it says would be written there, be it into a container's own file. As before, nothing can be read
    /// or written by these numbers. Before anything is opened.
    package static func occupyStandard() {
        for number in 0...error where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// How many one kind of use may keep open, of four at most: a quarter of what the process may have,
    /// and no more than is of any use.
    public static let share = quarter(atMost: 256)

    /// How many clients may be connected, each of which takes two.
    public static let clients = quarter(atMost: 1_024)

    private static func quarter(atMost most: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return min(most, 256) }
        return Int(min(limit.rlim_cur / 4, rlim_t(most)))
    }
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// Takes the limit of open descriptors up to what a daemon makes use of, if the user may: it is low for
    /// programs that use select(2). Before anything depends on it.
    public static func allowMany() { ResourceLimit.raise(kind, to: useful) }
    private static let useful: rlim_t = 8_192

    /// Writes all of `bytes` where the descriptor stands. Blocks while nobody reads.
    public static func write(_ bytes: [UInt8], to number: Int32) throws(Errno) {
        var done = 0
        while done < bytes.count {
            done += try check {
                bytes.withUnsafeBytes { buffer in
                    Glibc.write(number, buffer.baseAddress.map { $0 + done }, buffer.count - done)
                }
            }
        }
    }
}
