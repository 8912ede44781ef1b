import DocumentFiles
import Documents
import Editing
import Glibc
import Model
import SystemCalls

/// Where a document is read from: a file, standard input as `-`, or a pipe or removed file that is
/// named by its descriptor, as a shell does for `<(COMMAND)`.
enum DocumentSource {
    /// What was read, with what is wrong about it.
    struct Content {
        var document: EditableDocument
        /// What was repaired in reading.
        var repairs: [String]
        var bytes: [UInt8]

        /// What was repaired or is wrong.
        var notes: [String] { repairs + document.problems() }
    }

    static func load(_ name: String, type: DocumentType?) throws(Failure) -> Content {
        let isInput = name == "-"
        if !isInput, !WrittenFile.isNameless(name) {
            let file = try DocumentFile(name, type: type)
            let loaded = try ArrivalLine.shown(file) { (file) throws(Failure) in try file.load() }
            return Content(
                document: loaded.document, repairs: loaded.repairs, bytes: loaded.bytes)
        }
        let source = isInput ? "standard input" : name
        let bytes = isInput ? try standardInput() : try bytes(of: name)
        let type = if let type { type } else { try DocumentType(content: bytes, of: source) }
        do throws(DocumentError) {
            let read = try EditableDocument.repaired(bytes, as: type)
            return Content(document: read.document, repairs: read.repairs, bytes: bytes)
        } catch { throw Failure(.badData, "\(source): \(error)") }
    }

    /// All of standard input; a failure beyond what any document may have.
    static func standardInput() throws(Failure) -> [UInt8] {
        // The descriptor and not /dev/stdin: sockets cannot be opened again.
        let copy = dup(0)
        guard copy >= 0 else { throw Failure(.noInput, "standard input: \(Errno.last)") }
        let input = OwnedDescriptor(adopting: copy)
        do throws(Errno) { return try bytes(from: input) } catch {
            throw Failure(reading: "standard input", error)
        }
    }

    /// The text of a file that is no document, or of standard input as `-`; without the byte order
    /// mark that some editors put before it.
    static func text(of name: String) throws(Failure) -> String {
        let isInput = name == "-"
        let all = isInput ? try standardInput() : try bytes(of: name)
        guard let text = String(validating: all.withoutByteOrderMark, as: UTF8.self) else {
            throw Failure(.badData, (isInput ? "standard input" : name) + ": not UTF-8 text")
        }
        return text
    }

    /// All bytes of a file that is no document, bounded as documents are.
    static func bytes(of path: String) throws(Failure) -> [UInt8] {
        do throws(Errno) {
            if WrittenFile.isNameless(path), let open = try DescriptorPath.duplicate(path) {
                return try bytes(from: open)
            }
            return try bytes(from: try OwnedDescriptor.open(path, O_RDONLY))
        } catch { throw Failure(reading: path, error) }
    }

    private static func bytes(from file: borrowing OwnedDescriptor) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try check { Glibc.read(file.number, &block, block.count) }
            if count == 0 { return bytes }
            bytes += block[..<count]
            if bytes.count > Limits.jsonBytes { throw Errno(EFBIG) }
        }
    }
}
