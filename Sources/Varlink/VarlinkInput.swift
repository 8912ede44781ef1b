/// What came over a connection and is not read: messages, each with a zero byte behind it.
struct VarlinkInput {
    private var bytes: [UInt8] = []
    /// How much of it is known to hold no end of a message.
    private var searched = 0

    /// Bytes that are not read.
    var count: Int { bytes.count }
    /// Whether a whole message is there.
    var hasMessage: Bool { bytes[searched...].contains(0) }

    mutating func append(_ part: ArraySlice<UInt8>) { bytes += part }

    /// Takes the next whole message, without its end.
    mutating func next() -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0) else {
            searched = bytes.count
            return nil
        }
        defer {
            bytes.removeSubrange(...end)
            searched = 0
        }
        return Array(bytes[..<end])
    }
}
