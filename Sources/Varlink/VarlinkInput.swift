/// What came over a connection and is not read: messages, each with a zero byte behind it.
struct VarlinkInput {
    private var bytes: [UInt8] = []
    /// Where what is not read begins.
    private var start = 0
    /// How much of ``bytes`` is known to hold no end of a message behind there.
    private var searched = 0

    /// Bytes that are not read.
    var count: Int { bytes.count - start }
    /// Whether a whole message is there.
    var hasMessage: Bool { bytes[searched...].contains(0) }

    mutating func append(_ part: ArraySlice<UInt8>) {
        // Given up in large parts: who sends many small messages at once would have all that follow
        // moved for each of them.
        if start > bytes.count / 2 {
            bytes.removeFirst(start)
            (start, searched) = (0, searched - start)
        }
        bytes += part
    }

    /// Takes the next whole message, without its end.
    mutating func next() -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0) else {
            searched = bytes.count
            return nil
        }
        defer { (start, searched) = (end + 1, end + 1) }
        return Array(bytes[start..<end])
    }
}
