extension [UInt8] {
    /// Whether it begins with the byte order mark that some editors put before UTF-8.
    public var hasByteOrderMark: Bool { starts(with: [0xef, 0xbb, 0xbf]) }

    /// It without a byte order mark, if it begins with one.
    public var withoutByteOrderMark: [UInt8] { hasByteOrderMark ? Array(dropFirst(3)) : self }
}
