internal import DocumentKit
internal import Documents
internal import Glibc
internal import Model
internal import SystemCalls

/// Puts another content in the place of a document's, so that it can be undone.
struct Restoring {
    let path: String
    let name: String

    /// Says whether the content was another.
    ///
    /// - Parameter description: what the history of `shapeedit undo` calls it.
    func run(
        from source: borrowing OwnedDescriptor, _ claim: borrowing FileClaim,
        describedAs description: String
    ) throws(Failure) -> Bool {
        do throws(Errno) {
            if try ContentCopy.isSame(source, claim.file) { return false }
            // Before the first byte changes. If this process dies in between, that does no harm.
            try claim.keepVersion()
            let size = Int64(try source.status().st_size)
            let largest = max(size, Int64(try claim.file.status().st_size))
            if DocumentType(fileName: path) != nil, largest <= HistoryJournal.byteLimit {
                let journal = HistoryJournal(of: claim.file, isCoordinated: claim.isCoordinated)
                let before = try WholeFile.read(claim.file)
                let after = try WholeFile.read(source)
                try MountDraft.write(claim.file) { (_) throws(Errno) in
                    try ContentCopy.makeRoom(for: Int64(after.count), claim.file)
                    try WholeFile.overwrite(claim.file, with: after)
                }
                // Without it the version that was kept leads back.
                _ = try? journal.record(after, over: before, describedAs: description, at: path)
            } else {
                try ContentCopy.write(source, over: claim.file)
            }
            return true
        } catch { throw Failure(name, error) }
    }
}
