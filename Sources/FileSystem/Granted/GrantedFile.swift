internal import Glibc
internal import Model
internal import SystemCalls

/// An open document of another container, a picture of one, or a file of the app's beside it.
final class GrantedFile: Sendable {
    let owner: String
    /// The document, or that of the picture; `nil` for a file of the app's.
    let document: DocumentID?
    /// On the owner's mount. Closed with the last reference, on a thread that may wait.
    let descriptor: OwnedDescriptor
    /// What is opened to be read, and emptied, is written too.
    let writes: Bool
    /// It is open under a node of another content.
    let isMisplaced: Bool
    /// The process that opened it.
    let process: Int32
    /// Of a file of the app's.
    let inode: UInt64
    /// Of a file of the app's.
    private let followed = Lock(Followed())

    /// The document that a file of the app's was renamed over.
    struct Followed: Sendable {
        /// `nil` if it was over none.
        var document: DocumentID?
        /// Which of its contents is this file's; `nil` as long as it is being made.
        var content: String?
        /// Whether the file was written since.
        var isChanged = false
    }

    init(
        owner: String, document: DocumentID?, descriptor: consuming OwnedDescriptor, flags: Int32,
        process: Int32, isMisplaced: Bool = false
    ) {
        self.owner = owner
        self.document = document
        self.descriptor = descriptor
        writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
        self.process = process
        self.isMisplaced = isMisplaced
        inode = document == nil ? UInt64((try? self.descriptor.status().st_ino) ?? 0) : 0
    }

    /// The file of the app's is renamed over a document: what is written from here on is to get there.
    /// `nil`: it is not, after all.
    func follow(_ document: DocumentID?) {
        followed.withLock { $0 = Followed(document: document) }
    }

    /// The document has what was in the file of the app's.
    func noteSaved(as content: String?) { followed.withLock { $0.content = content } }

    /// The file of the app's was written.
    func noteChange() { followed.withLock { $0.isChanged = true } }

    /// The document that does not have yet what was written, and the content that it has if nobody
    /// else changed it; from here on it counts as if it had.
    func takeChanged() -> (document: DocumentID, content: String)? {
        followed.withLock { followed in
            guard followed.isChanged, let document = followed.document,
                let content = followed.content
            else { return nil }
            followed.isChanged = false
            return (document, content)
        }
    }
}
