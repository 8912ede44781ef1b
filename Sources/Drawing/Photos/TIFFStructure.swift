/// Directories of numbers as TIFF 6.0 has them, of which only what is asked for is read, and nothing
/// outside the bytes given.
struct TIFFStructure {
    /// What a number means.
    enum Tag: Int {
        case orientation = 0x0112
        case previewOffset = 0x0201
        case previewBytes = 0x0202
    }

    /// Where a directory begins.
    struct Directory {
        fileprivate var place: Int
        fileprivate var count: Int
    }

    private static let entryBytes = 12

    private let content: ArraySlice<UInt8>
    private let isLittleEndian: Bool

    /// nil for anything that does not begin as such a structure does.
    init?(_ content: ArraySlice<UInt8>) {
        self.content = content
        switch content.prefix(2) {
        case [0x49, 0x49]: isLittleEndian = true
        case [0x4D, 0x4D]: isLittleEndian = false
        default: return nil
        }
        guard number(at: 2, 2) == 42 else { return nil }
    }

    /// The directory of the picture itself.
    var firstDirectory: Directory? { number(at: 4, 4).flatMap(directory) }

    /// The directory that follows another one.
    func directory(after other: Directory) -> Directory? {
        number(at: other.place + 2 + other.count * Self.entryBytes, 4).flatMap(directory)
    }

    private func directory(at place: Int) -> Directory? {
        guard place > 0, let count = number(at: place, 2), count > 0 else { return nil }
        return Directory(place: place, count: count)
    }

    /// The one number that a directory has under a tag: of 2 or 4 bytes.
    func value(of tag: Tag, in directory: Directory) -> Int? {
        for index in 0..<directory.count {
            let entry = directory.place + 2 + index * Self.entryBytes
            guard let found = number(at: entry, 2) else { return nil }
            guard found == tag.rawValue else { continue }
            guard number(at: entry + 4, 4) == 1 else { return nil }
            switch number(at: entry + 2, 2) {
            case 3: return number(at: entry + 8, 2)
            case 4: return number(at: entry + 8, 4)
            default: return nil
            }
        }
        return nil
    }

    /// Bytes of the structure; nil if they are not all in it.
    func bytes(_ place: Int, _ count: Int) -> ArraySlice<UInt8>? {
        guard place <= content.count, count <= content.count - place else { return nil }
        return content.dropFirst(place).prefix(count)
    }

    private func number(at place: Int, _ count: Int) -> Int? {
        guard let found = bytes(place, count) else { return nil }
        let ordered = isLittleEndian ? Array(found.reversed()) : Array(found)
        return ordered.reduce(0) { $0 << 8 | Int($1) }
    }
}
