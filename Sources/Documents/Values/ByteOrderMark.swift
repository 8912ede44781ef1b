extension [UInt8] {
    /// Whether it begins with the byte order mark that some editors put before UTF-8.
    public var hasByteOrderMark: Bool { starts(with: [0xef, 0xbb, 0xbf]) }

    /// Whether it begins with the byte order mark of UTF-16.
    var isUTF16: Bool { starts(with: [0xff, 0xfe]) || starts(with: [0xfe, 0xff]) }

    /// What is said to who has saved a text so.
    static var utf16Complaint: String { "a text in UTF-16; save it as UTF-8" }

    /// It without a byte order mark, if it begins with one.
    public var withoutByteOrderMark: [UInt8] { hasByteOrderMark ? Array(dropFirst(3)) : self }
}
