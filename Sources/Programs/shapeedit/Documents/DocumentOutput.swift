import DocumentFiles
import Glibc
import Model
import SystemCalls

/// Where a finished file goes: a path, or standard output as `-`.
enum DocumentOutput {
    /// Writes `bytes`; a file gets its name when it is whole.
    ///
    /// - Parameter overwriting: whether an existing file is replaced; else it is an error.
    static func write(_ bytes: [UInt8], to path: String, overwriting: Bool) throws(Failure) {
        if path == "-" {
            try writeOut(bytes)
            return
        }
        try WrittenFile.put(bytes, at: path, overwriting: overwriting)
    }

    private static func writeOut(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw Failure(.inputOutput, "standard output: \(Errno.last)") }
            rest = rest.dropFirst(count)
        }
    }
}
