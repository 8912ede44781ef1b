internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The journal at the opening of a container.
extension Container {
    /// Something else is in the place of a file.
    static func oddFile(_ path: String) -> Failure {
        Failure(
            .inputOutput,
            "\(path) is no file: put the file back that belongs there, or remove it if there was none"
        )
    }

    /// Under which the catalog keeps that its container was opened without a journal after a crash.
    static let lostJournalKey = "lostjournal"

    /// Makes what is missing of the folder and opens the journal.
    static func openJournal(
        _ folder: ContainerFolder, of database: CatalogDatabase
    ) throws(Failure) -> Journal {
        try checkJournal(folder, of: database)
        // Until all of an opening is done: one that is cut off leaves a journal, which has not what is gone.
        if access(folder.journal.cPath, F_OK) != 0, try database.meta("clean") == "0" {
            try database.setMeta(lostJournalKey, "1")
        }
        try folder.make(isNew: false)
        if let path = Journal.oddFile(in: folder.journal) {
            throw oddFile(path)
        }
        do throws(Errno) { return try Journal(folder: folder.journal) } catch {
            if [EACCES, EPERM, EROFS].contains(error.code) {
                throw Failure(
                    .noPermission,
                    "\(folder.journal): \(error); make it and what is in it writable for you")
            }
            throw Failure(
                .inputOutput, "\(folder.journal): \(error)", isDiskFull: error.isNoRoom)
        }
    }

    /// Fails if a file of the journal is missing or cut off though the container was not closed: what
    /// was in it would be given up in silence. One without the whole folder is opened as its catalog is.
    private static func checkJournal(
        _ folder: ContainerFolder, of database: CatalogDatabase
    ) throws(Failure) {
        guard access(folder.journal.cPath, F_OK) == 0, try database.meta("clean") == "0",
            try isWhole(folder, by: database)
        else { return }
        if let path = Journal.incompleteFile(in: folder.journal) {
            throw Failure(
                .badData,
                "\(path) is missing or cut off: changes are missing. "
                    + goingOn(without: folder.journal))
        }
    }

    /// Whether everything that was written to the files is in them: no power was lost, and nobody copied them while
    /// they were written.
    private static func isWhole(
        _ folder: ContainerFolder, by database: CatalogDatabase
    ) throws(Failure) -> Bool {
        let (boot, recorded) = (try Boot(of: folder), try database.meta("boot"))
        return boot.isCopied(since: recorded) ? false : try boot.includes(recorded)
    }

    /// What to do about changes that cannot be read.
    private static func goingOn(without journal: String) -> String {
        "Put a backup of the whole folder back, or keep a copy of it and remove \(journal) to go on "
            + "with the catalog as it is"
    }

    /// Brings SQLite up to the journal. Returns the number of mutations that it did not have.
    static func replay(
        _ journal: Journal, of folder: ContainerFolder, into database: CatalogDatabase
    ) throws(Failure) -> Int {
        let contents: JournalContents
        let written: ChangeSequence
        do throws(Errno) {
            contents = try journal.contents()
            written = try journal.lastWritten()
        } catch {
            throw Failure(.inputOutput, "\(journal.folder): \(error)")
        }
        let last = max(contents.records.last?.sequence ?? 0, database.appliedSequence)
        if try isWhole(folder, by: database) {
            if let file = contents.damaged(after: last) {
                throw Failure(
                    .badData,
                    "\(file.path) is damaged at byte \(file.end): the changes from there on cannot "
                        + "be read. \(goingOn(without: journal.folder))")
            }
            if written > last {
                throw Failure(
                    .badData,
                    "\(journal.folder) is damaged: \(Count.words(written - last, "change")) at its end cannot be read. "
                        + goingOn(without: journal.folder))
            }
        }
        let missing = contents.records.filter { $0.sequence > database.appliedSequence }
        if let first = missing.first, first.sequence != database.appliedSequence + 1 {
            // Changes that were acknowledged are in neither place.
            throw Failure(
                .badData,
                "\(journal.folder) does not go on where the catalog ends: changes are missing. "
                    + goingOn(without: journal.folder))
        }
        if !missing.isEmpty { try database.applyAll(missing) }
        journal.settle(at: database.appliedSequence)
        return missing.count
    }
}
