package import Catalog
package import Content
package import Model

extension ItemRecord {
    /// Makes the content that `status` describes the current version.
    ///
    /// A version that follows another gets a later change time than it, though both were written
    /// within one tick of the clock that the file below has its times from: who remembers size and
    /// times of what he read finds out that there is something else now. The first content keeps
    /// the time of its file, which who wrote it may have seen before the close.
    package mutating func setContent(
        _ status: FileStatus, ordinal newOrdinal: Ordinal, place newPlace: ContentPlace
    ) {
        let earliest =
            ordinal == 0 ? changed : Timestamp(rawValue: changed).successor.rawValue
        ordinal = newOrdinal
        size = status.size
        blocks = MemoryIndex.pages(of: status.blocks)
        modified = status.modified.rawValue
        changed = max(earliest, status.changed.rawValue)
        place = newPlace
        hash = nil
    }
}
