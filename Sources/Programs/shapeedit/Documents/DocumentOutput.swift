import DocumentFiles
import Model
import SystemCalls

/// Where a finished file goes: a path, or standard output as `-`.
enum DocumentOutput {
    /// Whether a path means standard output, where nothing else may be said then.
    static func isStandardOutput(_ path: String) -> Bool {
        path == "-" || DescriptorPath.number(path) == Descriptors.output
    }

    /// Writes `bytes`; a file gets its name when it is whole.
    ///
    /// - Parameter overwriting: whether an existing file is replaced; else it is an error.
    static func write(_ bytes: [UInt8], to path: String, overwriting: Bool) throws(Failure) {
        try write(to: path, overwriting: overwriting) { (take) throws(Errno) in try take(bytes) }
    }

    /// The same for what `body` gives away part by part.
    private static func write(
        to path: String, overwriting: Bool,
        _ body: WholeFile.Parts
    ) throws(Failure) {
        if isStandardOutput(path) {
            do throws(Errno) {
                try body { (bytes) throws(Errno) in
                    try Descriptors.write(bytes, to: Descriptors.output)
                }
            } catch {
                throw Failure(.inputOutput, "standard output: \(error)")
            }
            return
        }
        try WrittenFile.put(at: path, overwriting: overwriting, body)
    }

    /// Writes a picture or an export. It replaces one that is there, never a document: neither the
    /// one that is drawn nor another.
    ///
    /// - Parameter body: gives its bytes away, part by part.
    static func draw(
        of source: String, to path: String,
        _ body: WholeFile.Parts
    ) throws(Failure) {
        if path != "-", WrittenFile.isDocument(path) || WrittenFile.isSame(path, source) {
            throw Failure(
                .cannotCreate,
                "\(path) is a document and is left as it is; give the picture another name")
        }
        try write(to: path, overwriting: true, body)
    }
}
