/// Directories of numbers as TIFF 6.0 has them, of which only what is asked for is read, and nothing
/// outside the bytes given.
struct TIFFStructure {
    /// What a number means.
    enum Tag: Int {
        case orientation = 0x0112
        case previewOffset = 0x0201
        case previewBytes = 0x0202
        /// Where the directory is of what the camera says.
        case camera = 0x8769
        case width = 0xA002
        case height = 0xA003
    }

    /// Where a directory begins.
    struct Directory {
        fileprivate var place: Int
        fileprivate var count: Int
    }

    private static let entryBytes = 12

    private let photo: PhotoParts
    /// Where it is in the photo.
    private let extent: Range<Int>
    private let isLittleEndian: Bool

    /// nil for anything that does not begin as such a structure does.
    init?(_ photo: PhotoParts, _ extent: Range<Int>) throws(PhotoParts.Missing) {
        guard extent.count >= 8,
            let head = try photo.bytes(
                extent.lowerBound..<extent.lowerBound + 4,
                ahead: min(EmbeddedPreview.stepBytes, extent.count))
        else { return nil }
        switch head {
        case [0x49, 0x49, 42, 0]: isLittleEndian = true
        case [0x4D, 0x4D, 0, 42]: isLittleEndian = false
        default: return nil
        }
        self.photo = photo
        self.extent = extent
    }

    /// The directory of the picture itself.
    func firstDirectory() throws(PhotoParts.Missing) -> Directory? {
        guard let place = try number(at: 4, 4) else { return nil }
        return try directory(at: place)
    }

    /// The directory that follows another one.
    func directory(after other: Directory) throws(PhotoParts.Missing) -> Directory? {
        let end = other.place + 2 + other.count * Self.entryBytes
        guard let place = try number(at: end, 4) else { return nil }
        return try directory(at: place)
    }

    func directory(at place: Int) throws(PhotoParts.Missing) -> Directory? {
        guard place > 0, let count = try number(at: place, 2), count > 0 else { return nil }
        return Directory(place: place, count: count)
    }

    /// The one number that a directory has under a tag: of 2 or 4 bytes.
    func value(of tag: Tag, in directory: Directory) throws(PhotoParts.Missing) -> Int? {
        for index in 0..<directory.count {
            let entry = directory.place + 2 + index * Self.entryBytes
            guard let found = try number(at: entry, 2) else { return nil }
            guard found == tag.rawValue else { continue }
            guard try number(at: entry + 4, 4) == 1 else { return nil }
            switch try number(at: entry + 2, 2) {
            case 3: return try number(at: entry + 8, 2)
            case 4: return try number(at: entry + 8, 4)
            default: return nil
            }
        }
        return nil
    }

    /// Bytes of the structure; nil if they are not all in it.
    ///
    /// - Parameter ahead: as ``PhotoParts/bytes(_:ahead:)`` has it.
    func bytes(_ place: Int, _ count: Int, ahead: Int = 0) throws(PhotoParts.Missing) -> [UInt8]? {
        guard place <= extent.count, count <= extent.count - place else { return nil }
        let start = extent.lowerBound + place
        return try photo.bytes(
            start..<start + count, ahead: min(ahead, extent.upperBound - start))
    }

    private func number(at place: Int, _ count: Int) throws(PhotoParts.Missing) -> Int? {
        guard let found = try bytes(place, count, ahead: EmbeddedPreview.stepBytes) else {
            return nil
        }
        let ordered = isLittleEndian ? Array(found.reversed()) : found
        return ordered.reduce(0) { $0 << 8 | Int($1) }
    }
}
