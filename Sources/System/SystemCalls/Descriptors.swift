internal import Glibc

/// Descriptors that nobody here owns: standard input, output and error.
public enum Descriptors {
    /// The number of standard output.
    public static let output: Int32 = 1
    /// The number of standard error.
    public static let error: Int32 = 2

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
