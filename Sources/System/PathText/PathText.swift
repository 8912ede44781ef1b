internal import Glibc

/// Names and paths as text. On Linux they are bytes, mostly but not always UTF-8; a `String` is always
/// UTF-8, and one that is made of other bytes the ordinary way has U+FFFD in their place for good.
///
/// Here each byte that is not UTF-8 becomes a *mark*, which leads back to it: two of Unicode's
/// noncharacters, which are kept for use inside of programs. The first, U+FDD8 to U+FDDF, has the upper
/// four bits of the byte in its last four, the second, U+FDE0 to U+FDEF, the lower ones. (Python's
/// surrogateescape is the same with lone surrogates, which no `String` can hold.) The bytes of these
/// noncharacters themselves become marks too, so every name has one text, and no two have the same.
///
/// Marks stay inside: system calls get `cPath`, what leaves the program is made of `pathBytes` or
/// `repairedPath`. Pure; any thread.
public enum PathText {
    /// Bytes of a mark.
    fileprivate static let markBytes = 6

    /// Whether there are any of the noncharacters that marks are made of.
    fileprivate static func hasParts(_ utf8: UnsafeRawBufferPointer) -> Bool {
        // Their first byte is rare in most names, and this is asked of every name.
        guard let base = utf8.baseAddress, memchr(base, 0xef, utf8.count) != nil else {
            return false
        }
        return utf8.indices.contains { isPart(utf8, at: $0) }
    }

    private static func isPart(_ utf8: UnsafeRawBufferPointer, at place: Int) -> Bool {
        place + 2 < utf8.count && utf8[place] == 0xef && utf8[place + 1] == 0xb7
            && (0x98...0xaf).contains(utf8[place + 2])
    }

    /// The byte that a mark stands for; `nil` if there is none at the place.
    fileprivate static func marked(_ utf8: UnsafeRawBufferPointer, at place: Int) -> UInt8? {
        guard isPart(utf8, at: place), isPart(utf8, at: place + 3) else { return nil }
        let (upper, lower) = (utf8[place + 2], utf8[place + 5])
        return upper < 0xa0 && lower >= 0xa0 ? (upper & 15) << 4 | lower & 15 : nil
    }

    private static func mark(_ byte: UInt8) -> [UInt8] {
        [0xef, 0xb7, 0x90 | byte >> 4, 0xef, 0xb7, 0xa0 | byte & 15]
    }

    /// The UTF-8 of the text of a name that is not UTF-8, or has parts of marks in it.
    fileprivate static func marking(_ name: UnsafeRawBufferPointer) -> [UInt8] {
        var utf8: [UInt8] = []
        var place = 0
        while place < name.count {
            let lead = name[place]
            let count = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
            let character = name[place..<min(place + count, name.count)]
            if !isPart(name, at: place), String(validating: character, as: UTF8.self) != nil {
                utf8 += character
                place += count
            } else {
                utf8 += mark(lead)
                place += 1
            }
        }
        return utf8
    }
}

extension String {
    /// The text of a name or path.
    public init(path bytes: UnsafeRawBufferPointer) {
        // Nearly all names are ASCII.
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self.init(decoding: bytes, as: UTF8.self)
        } else if !PathText.hasParts(bytes), let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            self.init(decoding: PathText.marking(bytes), as: UTF8.self)
        }
    }

    /// The text of a name or path.
    public init(path bytes: some Sequence<UInt8>) {
        self = Array(bytes).withUnsafeBytes { String(path: $0) }
    }

    /// The text of a name or path that ends with a NUL.
    public init(cPath: UnsafePointer<CChar>) {
        self.init(path: UnsafeRawBufferPointer(start: cPath, count: strlen(cPath)))
    }

    /// Whether it is the text of a name that is not UTF-8, or has parts of marks in it.
    public var hasPathMarks: Bool {
        var text = self
        return text.withUTF8 { PathText.hasParts(UnsafeRawBufferPointer($0)) }
    }

    /// The bytes of the name or path.
    public var pathBytes: [UInt8] { replacingPathMarks { [$0] } }

    /// The same for system calls: with a NUL at its end.
    public var cPath: [CChar] {
        if !hasPathMarks { return Array(utf8CString) }
        return pathBytes.cPath
    }

    /// As text for people and for other programs: with U+FFFD in the place of each mark.
    public var repairedPath: String { writingPathMarks { _ in "\u{FFFD}" } }

    /// With each mark written in another form, such as `\xe9`.
    public func writingPathMarks(_ form: (UInt8) -> String) -> String {
        if !hasPathMarks { return self }
        return String(decoding: replacingPathMarks { Array(form($0).utf8) }, as: UTF8.self)
    }

    private func replacingPathMarks(_ form: (UInt8) -> [UInt8]) -> [UInt8] {
        var text = self
        return text.withUTF8 { buffer in
            let utf8 = UnsafeRawBufferPointer(buffer)
            guard PathText.hasParts(utf8) else { return Array(utf8) }
            var bytes: [UInt8] = []
            var place = 0
            while place < utf8.count {
                if let byte = PathText.marked(utf8, at: place) {
                    bytes += form(byte)
                    place += PathText.markBytes
                } else {
                    bytes.append(utf8[place])
                    place += 1
                }
            }
            return bytes
        }
    }
}

extension [UInt8] {
    /// A name or path for system calls: with a NUL at its end.
    public var cPath: [CChar] { map { CChar(bitPattern: $0) } + [0] }
}
