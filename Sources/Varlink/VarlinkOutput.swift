/// What is on its way over a connection and was not taken by the other side.
struct VarlinkOutput {
    private var bytes: [UInt8] = []
    /// Where what was not taken begins.
    private var start = 0

    /// Bytes that were not taken.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ part: [UInt8]) { bytes += part }

    /// Gives `send` what was not taken; it says how much of that was, or a negative number.
    mutating func give(_ send: (UnsafeRawBufferPointer) -> Int) -> Int {
        let count = bytes.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        if count > 0 { start += count }
        if start == bytes.count {
            (bytes, start) = ([], 0)
        } else if start > bytes.count / 2 {
            // Given up in large parts: all of a long reply would be moved for each part that is taken.
            bytes.removeFirst(start)
            start = 0
        }
        return count
    }
}
