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
    package static func write(
        _ file: borrowing OwnedDescriptor, _ body: (_ isDraft: Bool) throws(Errno) -> Void
    ) throws(Errno) {
        let isDraft: Void? = try? file.instruct(name, "begin")
        try body(isDraft != nil)
        if isDraft != nil { try file.instruct(name, "end") }
    }

    private static let name = "user.shapeedit.draft"
}
