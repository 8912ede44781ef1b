internal import Catalog
internal import Model
internal import Pictures

/// What stands below `.shapeedit` at the root of a mount.
enum VirtualNode: Hashable, Sendable {
    case top
    case status
    case documents
    /// A symlink to where the document is now.
    case document(DocumentID)
    case versions
    /// Mirrors a directory: its documents are folders of their earlier versions.
    case versionsBelow(ItemNumber)
    /// The earlier versions of a document.
    case history(DocumentID)
    case version(ItemNumber, Ordinal)
    case thumbnails
    /// Mirrors the root, with pictures of one size in place of documents.
    case thumbnailsOf(PictureSize)
    case thumbnailsBelow(PictureSize, ItemNumber)
    case picture(PictureNode)

    /// The folder of one size that mirrors a directory.
    static func thumbnails(of directory: ItemNumber, _ size: PictureSize) -> VirtualNode {
        directory == .root ? .thumbnailsOf(size) : .thumbnailsBelow(size, directory)
    }
}

extension VersionRow {
    /// The version's file name: when it was published (UTC), its number, the document's extension.
    func fileName(suffix: String) -> String {
        let days = Int((Double(published.seconds) / 86_400).rounded(.down))
        let second = Int(published.seconds) - days * 86_400
        let (year, month, day) = Self.date(days)
        func two(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
        return "\(year)-\(two(month))-\(two(day))T\(two(second / 3600))\(two(second / 60 % 60))"
            + "\(two(second % 60))Z-\(ordinal)\(suffix)"
    }

    /// The civil date of a day counted from 1970-01-01 (Gregorian, Hinnant's method).
    private static func date(_ day: Int) -> (Int, Int, Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}
