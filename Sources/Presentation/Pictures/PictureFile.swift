/// The file that keeps a version's pictures, or the reason why it has none.
///
/// Little-endian: 8 bytes of magic; the length of the end of the name and the end; the length of the
/// reason (2 bytes) and the reason; how many pictures; for each its size in pixels (2 bytes) and its
/// length (4 bytes); then the pictures in that order. All of it is one file so that it is there whole
/// or not at all.
package struct PictureFile: Sendable {
    static let magic = Array("SEpics\(revision)\n".utf8)
    /// Of the drawing: where the same documents get other pictures, it is another number, and pictures
    /// of the one before count as missing.
    package static let revision = 6
    /// The head of every such file fits into this.
    package static let headBytes = 1 << 10
    static let reasonBytes = 512

    /// What the document was drawn as.
    package let type: PictureType
    /// Why it could not be drawn; nil if it was.
    package let failure: String?
    /// Where the pictures are in the file.
    package let places: [PictureSize: Range<Int>]

    /// The sizes that are not there yet.
    package var missing: [PictureSize] {
        failure == nil ? PictureSize.allCases.filter { places[$0] == nil } : []
    }

    /// Reads the head of a file that is in memory; nil for anything that is not such a file.
    package init?(_ file: [UInt8]) {
        self.init(head: Array(file.prefix(Self.headBytes)), size: file.count)
    }

    /// Reads the head; nil for anything that is not such a file of `size` bytes.
    package init?(head: [UInt8], size: Int) {
        var rest = head[...]
        func number(_ count: Int) -> Int? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func text(_ count: Int) -> String? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return String(decoding: rest.prefix(count), as: UTF8.self)
        }
        guard rest.starts(with: Self.magic) else { return nil }
        rest = rest.dropFirst(Self.magic.count)
        guard let endCount = number(1), let end = text(endCount), let reasonCount = number(2),
            let reason = text(reasonCount), let count = number(1)
        else { return nil }
        var lengths: [(PictureSize, Int)] = []
        for _ in 0..<count {
            guard let pixels = number(2), let length = number(4),
                let size = PictureSize(rawValue: pixels)
            else { return nil }
            lengths.append((size, length))
        }
        var place = head.count - rest.count
        var places: [PictureSize: Range<Int>] = [:]
        for (size, length) in lengths {
            places[size] = place..<place + length
            place += length
        }
        guard place == size, places.isEmpty != reason.isEmpty else { return nil }
        type = PictureType(end: end)
        failure = reason.isEmpty ? nil : reason
        self.places = places
    }

    /// A file with pictures.
    static func bytes(_ type: PictureType, _ pictures: [PictureSize: [UInt8]]) -> [UInt8] {
        let sorted = pictures.sorted { $0.key < $1.key }
        var bytes = beginning(type, reason: [])
        bytes.append(UInt8(sorted.count))
        for (size, picture) in sorted {
            bytes += number(size.pixels, 2) + number(picture.count, 4)
        }
        for (_, picture) in sorted { bytes += picture }
        return bytes
    }

    /// The pictures of `file`, whose head this is.
    func pictures(of file: [UInt8]) -> [PictureSize: [UInt8]] {
        places.mapValues { Array(file[$0]) }
    }

    /// A file with the pictures of `file`, whose head this is, and these for the other sizes.
    func completed(_ pictures: [PictureSize: [UInt8]], from file: [UInt8]) -> [UInt8] {
        let all = self.pictures(of: file).merging(pictures) { known, _ in known }
        return Self.bytes(type, all)
    }

    /// A file with a reason.
    static func bytes(_ type: PictureType, failure: String) -> [UInt8] {
        let reason = failure.isEmpty ? "unknown" : failure
        return beginning(type, reason: Array(reason.utf8.prefix(reasonBytes))) + [0]
    }

    private static func beginning(_ type: PictureType, reason: [UInt8]) -> [UInt8] {
        let end = Array(type.end.utf8)
        return magic + [UInt8(end.count)] + end + number(reason.count, 2) + reason
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
