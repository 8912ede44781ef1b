import Glibc
import PathText
import SystemCalls
import Thumbnailing

/// Reads documents.
enum DocumentInput {
    private static let chunk = 256 << 10

    /// The bytes of an open file from its start; the descriptor stays open and where it is.
    ///
    /// - Parameter part: no more than this is wanted, in bytes.
    static func bytes(of descriptor: Int32?, part: Int = .max) throws(Rendering.Problem)
        -> [UInt8]
    {
        guard let descriptor else { throw Rendering.Problem(description: "no document was sent") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: chunk)
        while bytes.count < part {
            let count: Int
            do throws(Errno) {
                let place = off_t(bytes.count)
                count = try check { pread(descriptor, &buffer, Self.chunk, place) }
            } catch {
                throw Rendering.Problem(description: "the document cannot be read: \(error)")
            }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= DrawingRequest.documentBytes else {
                throw Rendering.Problem(
                    description: "documents above \(DrawingRequest.documentBytes >> 20) MiB have no"
                        + " pictures")
            }
        }
        return Array(bytes.prefix(part))
    }

    /// The bytes of a file by its path.
    ///
    /// - Parameter part: no more than this is wanted, in bytes.
    static func bytes(at path: String, part: Int = .max) throws(Rendering.Problem) -> [UInt8] {
        let file: OwnedDescriptor
        do throws(Errno) {
            // Not waiting for the other end of a pipe.
            file = try OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK)
        } catch {
            throw Rendering.Problem(description: "\(path.repairedPath): \(error)")
        }
        return try bytes(of: file.number, part: part)
    }

    /// The path of a `file:` address as file managers pass it with %u; a path is itself.
    static func path(of input: String) throws(Rendering.Problem) -> String {
        guard input.hasPrefix("file://") else { return input }
        guard let path = FileURI.path(ofAddress: input) else {
            throw Rendering.Problem(description: "\(input) is no address of a file")
        }
        return String(path: path)
    }
}
