import DocumentFiles
import Model
import SystemCalls

/// Where a finished file goes: a path, or standard output as `-`.
enum DocumentOutput {
    /// Writes `bytes`; a file gets its name when it is whole.
    ///
    /// - Parameter overwriting: whether an existing file is replaced; else it is an error.
    static func write(_ bytes: [UInt8], to path: String, overwriting: Bool) throws(Failure) {
        if path == "-" {
            do throws(Errno) { try Descriptors.write(bytes, to: Descriptors.output) } catch {
                throw Failure(.inputOutput, "standard output: \(error)")
            }
            return
        }
        try WrittenFile.put(bytes, at: path, overwriting: overwriting)
    }
}
