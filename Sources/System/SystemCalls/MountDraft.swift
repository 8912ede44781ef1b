internal import Glibc

/// Writing a document of a mount so that the mount publishes all that is written, or nothing of it.
package enum MountDraft {
    /// Runs what writes the document. If that throws, or this process ends in between, however it does, the
    /// document stays what it was.
    ///
    /// - Parameters:
    ///   - file: the document, open for writing; it has to be in a mount of ShapeEdit. Closing it publishes
    ///     what was written.
    ///   - body: is told whether the mount has taken this for a draft. It does not if others write the
    ///     document as well, or if it is one of an earlier release: then whatever was written is published.
    ///     Where it fails otherwise, nothing is written.
    package static func write(
        _ file: borrowing OwnedDescriptor, _ body: (_ isDraft: Bool) throws(Errno) -> Void
    ) throws(Errno) {
        let isDraft = try begin(file)
        try body(isDraft)
        if isDraft { try file.instruct(name, "end") }
    }

    private static func begin(_ file: borrowing OwnedDescriptor) throws(Errno) -> Bool {
        do throws(Errno) { try file.instruct(name, "begin") } catch {
            let refusals = [EBUSY, EINVAL, EOPNOTSUPP, EPERM, EACCES, EBADF]
            guard refusals.contains(error.code) else { throw error }
            return false
        }
        return true
    }

    private static let name = "user.shapeedit.draft"
}
