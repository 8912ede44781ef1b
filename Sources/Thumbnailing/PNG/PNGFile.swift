internal import SystemCalls

/// A PNG file, as far as its chunks go: no pixel is decoded, so that a hostile one is no danger.
public struct PNGFile: Sendable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// A chunk that nobody reads.
    private static let room = "roOm"
    /// What makes the picture; everything else (texts, profiles, times) is left out.
    private static let kept: Set<String> = ["IHDR", "PLTE", "tRNS", "gAMA", "sRGB", "IDAT", "IEND"]

    /// Pixels from left to right.
    public let width: Int
    /// Pixels from top to bottom.
    public let height: Int
    private var chunks: [Chunk]

    private struct Chunk {
        var type: String
        var data: ArraySlice<UInt8>
    }

    /// The file, checked to be whole; nil if it is not, or if it is interlaced or not of 8 bits a
    /// sample, which the desktop's cache does not take.
    public init?(_ bytes: [UInt8]) {
        guard let chunks = Self.split(bytes), chunks.first?.type == "IHDR",
            chunks.last?.type == "IEND", chunks.contains(where: { $0.type == "IDAT" }),
            let header = chunks.first?.data, header.count == 13
        else { return nil }
        let start = header.startIndex
        width = Self.number(header, at: start)
        height = Self.number(header, at: start + 4)
        guard width > 0, height > 0, header[start + 8] == 8, header[start + 12] == 0 else {
            return nil
        }
        self.chunks = chunks.filter { Self.kept.contains($0.type) }
    }

    /// Whether bytes begin as those of a PNG file, of any kind, do.
    static func isOne(_ bytes: [UInt8]) -> Bool { bytes.starts(with: signature) }

    /// The entries of text that a PNG file has under keys of Latin-1.
    public static func texts(of bytes: [UInt8]) -> [String: String] {
        texts(in: split(bytes) ?? [])
    }

    /// The same, as far as they stand at the beginning of a file that there is not more of.
    static func texts(ofBeginning bytes: [UInt8]) -> [String: String] {
        texts(in: split(bytes, isWhole: false) ?? [])
    }

    private static func texts(in chunks: [Chunk]) -> [String: String] {
        var result: [String: String] = [:]
        for chunk in chunks where chunk.type == "tEXt" {
            guard let zero = chunk.data.firstIndex(of: 0) else { continue }
            let key = String(decoding: chunk.data[..<zero], as: UTF8.self)
            result[key] = String(decoding: chunk.data[(zero + 1)...], as: UTF8.self)
        }
        return result
    }

    /// The file with entries of text and nothing else but its picture.
    ///
    /// - Parameters:
    ///   - wideTexts: those of the kind that can have any characters (iTXt), which come first.
    ///   - room: bytes behind the first of the texts by which that can become longer in its place
    ///     (``replacement(ofFirstText:with:in:)``).
    public func bytes(
        texts: [(key: String, value: String)] = [],
        wideTexts: [(key: String, value: String)] = [], room: Int = 0
    ) -> [UInt8] {
        var result = Self.signature
        for (index, chunk) in chunks.enumerated() {
            Self.append(chunk.type, Array(chunk.data), to: &result)
            guard index == 0 else { continue }
            for (key, value) in wideTexts {
                // Not compressed, in no language, without a translated key.
                let zeros: [UInt8] = [0, 0, 0, 0, 0]
                Self.append("iTXt", Array(key.utf8) + zeros + Array(value.utf8), to: &result)
            }
            for (index, (key, value)) in texts.enumerated() {
                Self.append("tEXt", Array(key.utf8) + [0] + Array(value.utf8), to: &result)
                guard index == 0, room > 0 else { continue }
                Self.append(Self.room, [UInt8](repeating: 0, count: room), to: &result)
            }
        }
        return result
    }

    /// What has to be written in its place to give the first of a file's texts another value: the file keeps its
    /// length. nil if that text is not the first one, or there is no room behind it.
    ///
    /// - Parameter bytes: those that the file begins with.
    static func replacement(
        ofFirstText key: String, with value: String, in bytes: [UInt8]
    ) -> (bytes: [UInt8], place: Int)? {
        guard let chunks = split(bytes, isWhole: false),
            let index = chunks.firstIndex(where: { $0.type == Self.room }), index > 0
        else { return nil }
        let (text, room) = (chunks[index - 1], chunks[index].data)
        let data = Array(key.utf8) + [0]
        guard text.type == "tEXt", text.data.starts(with: data) else { return nil }
        let left = room.count + text.data.count - data.count - value.utf8.count
        guard left > 0 else { return nil }
        var result: [UInt8] = []
        append("tEXt", data + Array(value.utf8), to: &result)
        append(Self.room, [UInt8](repeating: 0, count: left), to: &result)
        return (result, text.data.startIndex - 8)
    }

    /// The same picture with another colour (red, green, blue) at a place of its palette; nil if it
    /// has no such place.
    public func recolored(_ place: Int, _ color: (UInt8, UInt8, UInt8)) -> PNGFile? {
        guard let index = chunks.firstIndex(where: { $0.type == "PLTE" }),
            place >= 0, chunks[index].data.count >= 3 * place + 3
        else { return nil }
        var changed = self
        let start = chunks[index].data.startIndex + 3 * place
        changed.chunks[index].data.replaceSubrange(
            start..<start + 3, with: [color.0, color.1, color.2])
        return changed
    }

    /// - Parameter isWhole: if not, what is not there whole is left out.
    private static func split(_ bytes: [UInt8], isWhole: Bool = true) -> [Chunk]? {
        guard bytes.starts(with: signature) else { return nil }
        var chunks: [Chunk] = []
        var place = signature.count
        while place < bytes.count {
            guard bytes.count - place >= 12 else { return isWhole ? nil : chunks }
            let count = number(bytes[...], at: place)
            guard count <= bytes.count - place - 12 else { return isWhole ? nil : chunks }
            let end = place + 8 + count
            guard
                bytes[(place + 4)..<end].withUnsafeBytes(CRC32.of)
                    == UInt32(number(bytes[...], at: end))
            else {
                return nil
            }
            let type = String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self)
            chunks.append(Chunk(type: type, data: bytes[(place + 8)..<end]))
            place = end + 4
            if type == "IEND" { break }
        }
        return chunks
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at place: Int) -> Int {
        (0..<4).reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
    }

    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        func add(_ number: UInt32) {
            for shift in [24, 16, 8, 0] {
                file.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
            }
        }
        add(UInt32(data.count))
        let body = Array(type.utf8) + data
        file += body
        add(body.withUnsafeBytes(CRC32.of))
    }
}

extension PNGFile {
    private static let placeholderKey = "ShapeEdit::Placeholder"

    /// The file, which stands for a picture that is not there, and says so.
    package func placeholder() -> [UInt8] { bytes(texts: [(Self.placeholderKey, "true")]) }

    /// Whether a PNG file says that it stands for a picture that is not there.
    package static func isPlaceholder(_ bytes: [UInt8]) -> Bool {
        texts(of: bytes)[placeholderKey] != nil
    }
}
