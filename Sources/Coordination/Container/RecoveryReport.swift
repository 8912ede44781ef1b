package import Model
internal import PathText

/// What recovery did after a container was not closed.
package struct RecoveryReport: Sendable, CustomStringConvertible {
    /// Whether what had not come to the disk may be gone.
    package var afterPowerLoss = false
    /// Whether that is because the disk was taken away, and came back in the same boot.
    package var diskWasAway = false
    /// Whether the container's files are a copy that was made while it was open.
    package var isOfCopy = false
    package var replayed = 0
    package var published = 0
    package var discarded = 0
    package var fellBack = 0
    package var removed = 0
    /// Whether somebody removed the journal, and with it what was changed last.
    package var lacksJournal = false
    /// Contents that may be of those changes, in ``ContainerFolder/lost``.
    package var setAside = 0
    /// Items whose last acknowledged content is not there any more: no crash does that.
    package var missing: [ItemNumber] = []
    /// Items whose published content is not there any more, which `check` finds by itself.
    package var absent: [ItemNumber] = []
    /// Items whose last content is not what was written: what it has become is in
    /// ``ContainerFolder/lost``. No crash does that either.
    package var damaged: [ItemNumber] = []
    /// Whether the container had been closed, and all that was done is to remove files without a name:
    /// an unmount does not say which of them the kernel lets go of.
    var isOfClosed = false
    /// Contents of removed versions, whose blobs may go when the catalog is on the disk.
    var unneeded: Set<ContentHash> = []

    package var description: String {
        var parts = ["\(Count.words(replayed, "change")) replayed"]
        if published > 0 { parts.append("\(Count.words(published, "document")) published") }
        if discarded > 0 { parts.append("\(Count.words(discarded, "unfinished write")) discarded") }
        if fellBack > 0 {
            parts.append(
                "\(Count.words(fellBack, "document")) fell back to the last whole version")
        }
        if lacksJournal {
            parts.append(
                "the journal was missing, what was changed last is lost"
                    + (setAside == 0
                        ? ""
                        : ", but what may be of it is in the container's folder `lost`, without names: "
                            + Count.words(setAside, "content")))
        }
        if !missing.isEmpty || !absent.isEmpty {
            parts.append(
                "what was saved last of \(Count.words(missing.count + absent.count, "document")) is missing"
            )
        }
        if !damaged.isEmpty {
            parts.append(
                "what was saved last of \(Count.words(damaged.count, "document")) is damaged: it is in "
                    + "the container's folder `lost`, without a name")
        }
        if removed > 0 { parts.append("\(Count.words(removed, "unlinked file")) removed") }
        if isOfCopy { parts.append("what was changed while it was copied may be missing") }
        return "recovered \(cause): " + parts.joined(separator: ", ")
    }

    private var cause: String {
        if isOfCopy { return "from a copy of its files that was made while it was in use" }
        if diskWasAway { return "after its disk was taken away" }
        return afterPowerLoss ? "after a power loss" : "after a crash"
    }
}
