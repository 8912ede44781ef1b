import Coordination
import DocumentFiles
import Documents
import Glibc
import Model
import SystemCalls

/// A query of a mount.
struct Search {
    let mountPoint: String
    let query: Query

    /// One result.
    struct Result: Equatable {
        /// Below the root.
        var path: String
        var item: Int
        var document: String
        var size: Int
        var modified: String
        var isPromise: Bool
        var isFolder: Bool
        var title: String?

        func json(_ mountPoint: String) -> String {
            JSONText.object(
                [
                    ("path", JSONText.string(mountPoint + "/" + path)), ("item", String(item)),
                    ("document", JSONText.string(document)),
                    ("folder", isFolder ? "true" : "false"),
                    ("size", String(size)), ("modified", JSONText.string(modified)),
                    ("promise", isPromise ? "true" : "false"),
                ] + (title.map { [("title", JSONText.string($0))] } ?? []))
        }
    }

    /// Asks the mount; the results, and the change that they are at least as new as.
    func run() throws(Failure) -> (results: [Result], sequence: UInt64) {
        let path = mountPoint + "/.shapeedit/find/" + query.description
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try readAll(try OwnedDescriptor.open(path, O_RDONLY))
        } catch {
            switch error.code {
            case ENOENT: throw Failure(.noInput, "\(mountPoint)/\(query.folder): \(error)")
            case EACCES, EPERM:
                throw Failure(
                    .noPermission, "\(mountPoint): only the owner of the mount may search")
            case ENAMETOOLONG: throw Failure(.usage, "the query is too long")
            default: throw Failure(.inputOutput, "\(mountPoint): \(error)")
            }
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
        guard let head = lines.popFirst().flatMap(Self.object),
            let sequence = head["sequence"]?.integer, head["count"]?.integer == lines.count
        else { throw Failure(.inputOutput, "\(path): the answer is not whole") }
        if let problem = head["problem"]?.string {
            Console.complain("\(mountPoint): not all words are known: \(problem)")
        }
        return (lines.compactMap(Self.object).compactMap(Self.result), UInt64(sequence))
    }

    private static func object(_ line: ArraySlice<UInt8>) -> JSONObject? {
        (try? JSONValue.readTolerantly(Array(line)))?.value.object
    }

    private static func result(_ object: JSONObject) -> Result? {
        guard let path = object["path"]?.string, let item = object["item"]?.integer,
            let document = object["document"]?.string, let size = object["size"]?.integer,
            let modified = object["modified"]?.string,
            let isPromise = object["promise"]?.boolean, let isFolder = object["folder"]?.boolean
        else { return nil }
        return Result(
            path: path, item: item, document: document, size: size, modified: modified,
            isPromise: isPromise, isFolder: isFolder, title: object["title"]?.string)
    }

    private func readAll(_ file: borrowing OwnedDescriptor) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try check { Glibc.read(file.number, &block, block.count) }
            if count == 0 { return bytes }
            bytes += block[..<count]
        }
    }
}
