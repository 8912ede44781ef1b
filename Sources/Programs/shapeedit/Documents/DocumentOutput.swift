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

    /// Writes a picture or an export. It replaces one that is there, never a document: neither the
    /// one that is drawn nor another.
    static func draw(_ bytes: [UInt8], of source: String, to path: String) throws(Failure) {
        if path != "-", WrittenFile.isDocument(path) || WrittenFile.isSame(path, source) {
            throw Failure(
                .cannotCreate,
                "\(path) is a document and is left as it is; give the picture another name")
        }
        try write(bytes, to: path, overwriting: true)
    }
}
