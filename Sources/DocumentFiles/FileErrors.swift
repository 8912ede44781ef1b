internal import DocumentKit
package import Documents
package import Editing
internal import Glibc
package import Model
package import SystemCalls

/// Errors of lower modules as failures that name the file.
extension Failure {
    /// A system call on `path` failed; the kind follows from why. What did not come from a store is told by
    /// the mount's reason.
    package init(_ path: String, _ error: Errno) {
        if error.code == ENOTCONN || error.code == ECONNABORTED {
            self = .mountIsDead(path)
            return
        }
        let kind: Failure.Kind =
            switch error.code {
            case ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG: .noInput
            case EACCES, EPERM, EROFS: .noPermission
            case EEXIST: .cannotCreate
            case EAGAIN, ETIMEDOUT, EINTR: .temporary
            // Larger than any document.
            case EFBIG: .badData
            default: .inputOutput
            }
        self.init(
            kind, "\(Self.shown(path)): \(ContentReason.words(error, path))",
            isDiskFull: error.isNoRoom)
    }

    /// Reading the document `path` failed: what is too large is told how large it may be.
    package init(reading path: String, _ error: Errno) {
        if error.code == EFBIG {
            let most = "\(Limits.jsonBytes >> 20) MiB"
            self.init(.badData, "\(path): \(error); a document has at most \(most)")
        } else {
            self.init(path, error)
        }
    }

    /// Writing `path` failed: what is too large then is so for this process, or for the disk, and no bad
    /// data.
    package init(writing path: String, _ error: Errno) {
        if error.code == EFBIG {
            self.init(.inputOutput, "\(path): \(error)")
        } else if error.code == ESTALE {
            self.init(
                .temporary, "\(path): others have written it meanwhile", isReplaced: true)
        } else {
            self.init(path, error)
        }
    }

    /// The content is not what its type wants.
    package init(_ path: String, _ error: DocumentError) {
        self.init(.badData, "\(path): \(error)")
    }

    /// An edit cannot be made.
    package init(_ path: String, _ error: EditError) {
        let kind: Failure.Kind =
            switch error.kind {
            case .usage: .usage
            default: .badData
            }
        self.init(kind, "\(path): \(error)")
    }
}

extension DocumentType {
    /// The type of the document `name` by what it holds, or a failure that tells why it has none.
    package init(content bytes: [UInt8], of name: String) throws(Failure) {
        let type: DocumentType?
        do throws(DocumentError) { type = try DocumentType(content: bytes) } catch {
            throw Failure(name, error)
        }
        guard let type else {
            throw Failure(
                .badData, "\(name): neither a shape, a slide nor a list; say which with --type")
        }
        self = type
    }
}
