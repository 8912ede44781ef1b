/// How the characters of a text are written where its bytes themselves tell.
enum UnicodeEncoding: Equatable {
    case utf8
    case utf16(isBigEndian: Bool)
    case utf32(isBigEndian: Bool)

    /// By the byte order mark that it begins with; nil without one.
    init?(mark bytes: [UInt8]) {
        // That of UTF-16 begins another one.
        if bytes.starts(with: [0xff, 0xfe, 0, 0]) {
            self = .utf32(isBigEndian: false)
        } else if bytes.starts(with: [0, 0, 0xfe, 0xff]) {
            self = .utf32(isBigEndian: true)
        } else if bytes.starts(with: [0xff, 0xfe]) {
            self = .utf16(isBigEndian: false)
        } else if bytes.starts(with: [0xfe, 0xff]) {
            self = .utf16(isBigEndian: true)
        } else if bytes.hasByteOrderMark {
            self = .utf8
        } else {
            return nil
        }
    }

    /// That of a text which begins with two characters of ASCII, as JSON does: where zeros are tells.
    init(ofASCII bytes: [UInt8]) {
        let zeros = bytes.prefix(4).map { $0 == 0 }
        switch zeros {
        case [true, true, true, false]: self = .utf32(isBigEndian: true)
        case [false, true, true, true]: self = .utf32(isBigEndian: false)
        case [true, false, true, false], [true, false], [true, false, true]:
            self = .utf16(isBigEndian: true)
        case [false, true, false, true], [false, true], [false, true, false]:
            self = .utf16(isBigEndian: false)
        default: self = .utf8
        }
    }

    /// For people.
    var name: String {
        switch self {
        case .utf8: "UTF-8"
        case .utf16: "UTF-16"
        case .utf32: "UTF-32"
        }
    }

    /// Bytes of the smallest character, and of the byte order mark of all but UTF-8.
    var unit: Int {
        switch self {
        case .utf8: 1
        case .utf16: 2
        case .utf32: 4
        }
    }

    /// The same text in UTF-8, without a byte order mark; the bytes themselves if they are UTF-8, which is
    /// not looked at. Made a character at a time: a text may be long.
    ///
    /// - Parameter limit: an error if it has more bytes.
    func utf8(_ bytes: [UInt8], atMost limit: Int = .max) throws(DocumentError) -> [UInt8] {
        if self == .utf8 { return bytes }
        var text: [UInt8] = []
        text.reserveCapacity(min(bytes.count, limit))
        var offset = UnicodeEncoding(mark: bytes) == self ? unit : 0
        while offset < bytes.count {
            guard let (scalar, length) = scalar(bytes[offset...]) else {
                throw DocumentError(.malformed, at: .byte(offset), "text that is not \(name)")
            }
            UTF8.encode(scalar).map { text.append(contentsOf: $0) }
            offset += length
            guard text.count <= limit else {
                throw DocumentError(
                    .tooLarge, at: .byte(offset),
                    "a text in \(name) that is too long to be made UTF-8; save it as UTF-8")
            }
        }
        return text
    }

    /// The first character of bytes that are not UTF-8, and how many bytes it has.
    private func scalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
        let start = bytes.startIndex
        func number(at place: Int, isBigEndian: Bool) -> UInt32? {
            guard place + unit <= bytes.endIndex else { return nil }
            let range = bytes[place..<place + unit]
            func joined(_ number: UInt32, _ byte: UInt8) -> UInt32 { number << 8 | UInt32(byte) }
            return isBigEndian ? range.reduce(0, joined) : range.reversed().reduce(0, joined)
        }
        switch self {
        case .utf8: return nil
        case .utf32(let isBigEndian):
            return number(at: start, isBigEndian: isBigEndian).flatMap { Unicode.Scalar($0) }
                .map { ($0, 4) }
        case .utf16(let isBigEndian):
            guard let first = number(at: start, isBigEndian: isBigEndian) else { return nil }
            guard (0xd800..<0xdc00).contains(first) else {
                return Unicode.Scalar(first).map { ($0, 2) }
            }
            guard let second = number(at: start + 2, isBigEndian: isBigEndian),
                (0xdc00..<0xe000).contains(second)
            else { return nil }
            return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
                .map { ($0, 4) }
        }
    }

    /// The byte of a text that a byte of the same text in UTF-8 was made of.
    func offset(of offset: Int, inUTF8 text: [UInt8], of bytes: [UInt8]) -> Int {
        if self == .utf8 { return offset }
        let before = String(decoding: text[..<offset], as: UTF8.self)
        let mark = UnicodeEncoding(mark: bytes) == self ? unit : 0
        return mark + unit * (unit == 2 ? before.utf16.count : before.unicodeScalars.count)
    }
}
