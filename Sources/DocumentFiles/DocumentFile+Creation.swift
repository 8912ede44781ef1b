internal import Documents
package import Editing
package import Glibc
package import Model
internal import SystemCalls

extension DocumentFile {
    /// Makes a new file with the document. Never overwrites: kind ``Failure/Kind/cannotCreate``.
    ///
    /// - Parameter mode: its permissions, less what the process's umask takes.
    package static func create(
        _ name: String, _ document: EditableDocument, mode: mode_t = 0o666
    ) throws(Failure) {
        let bytes: [UInt8]
        do throws(DocumentError) { bytes = try document.bytes(replacing: nil) } catch {
            throw Failure(name, error)
        }
        do throws(Errno) { try WholeFile.create(name, bytes, mode: mode) } catch {
            if error.code == EEXIST {
                throw Failure(.cannotCreate, "\(name) exists already and is left as it is")
            }
            switch error.code {
            case ENOENT, ENOTDIR:
                throw Failure(.cannotCreate, "\(name): there is no such folder")
            case ENAMETOOLONG, ELOOP: throw Failure(.cannotCreate, "\(name): \(error)")
            default: throw Failure(writing: name, error)
            }
        }
    }
}
