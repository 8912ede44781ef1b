/// Content that says itself whether it is whole.
///
/// Every line is 32 bytes and carries the writer, the version, the line's number and a sum of
/// them; the number of lines follows from the version, so versions differ in length and a piece
/// of one can never pass for the whole of another.
package enum SelfCheckingText {
    /// What a reader found.
    package enum Verdict: Equatable, Sendable {
        /// One whole version.
        case whole(version: Int)
        /// No bytes at all.
        case empty
        /// A mixture, a piece, or something else altogether; says where.
        case torn(String)
    }

    /// The bytes of a line, newline included.
    package static let lineLength = 32

    /// How many lines a version has: 8 to 1,007, far apart for neighbours.
    package static func lineCount(version: Int) -> Int { 8 + version &* 379 % 1000 }

    /// The bytes of a version by `writer` (0 to 65,535).
    package static func content(writer: Int, version: Int) -> [UInt8] {
        let lines = lineCount(version: version)
        var bytes = [UInt8](repeating: 0x2e, count: lines * lineLength)
        bytes.withUnsafeMutableBufferPointer { buffer in
            for line in 0..<lines {
                let start = line * lineLength
                hexadecimal(writer, digits: 4, at: start, of: buffer)
                hexadecimal(version, digits: 8, at: start + 5, of: buffer)
                hexadecimal(line, digits: 4, at: start + 14, of: buffer)
                hexadecimal(sum(writer, version, line), digits: 8, at: start + 19, of: buffer)
                buffer[start + lineLength - 1] = 0x0a
            }
        }
        return bytes
    }

    /// Judges what was read of a file that only `writer` writes.
    package static func verdict(_ bytes: [UInt8], writer: Int) -> Verdict {
        if bytes.isEmpty { return .empty }
        guard bytes.count >= lineLength,
            let version = Int(String(decoding: bytes[5..<13], as: UTF8.self), radix: 16)
        else { return .torn("\(bytes.count) bytes without a first line") }
        let expected = content(writer: writer, version: version)
        if bytes == expected { return .whole(version: version) }
        let differing = zip(bytes, expected).enumerated().first { $1.0 != $1.1 }?.offset
        let place = differing.map { "byte \($0)" } ?? "the end"
        return .torn(
            "version \(version): \(bytes.count) bytes instead of \(expected.count), "
                + "differs at \(place)")
    }

    private static func sum(_ writer: Int, _ version: Int, _ line: Int) -> Int {
        var value = UInt64(writer) << 48 ^ UInt64(version) << 16 ^ UInt64(line)
        value = (value ^ value >> 31) &* 0x9e37_79b9_7f4a_7c15
        return Int(value >> 32)
    }

    private static func hexadecimal(
        _ value: Int, digits: Int, at start: Int, of buffer: UnsafeMutableBufferPointer<UInt8>
    ) {
        var rest = value
        for position in stride(from: start + digits - 1, through: start, by: -1) {
            let digit = UInt8(rest & 15)
            buffer[position] = digit < 10 ? 0x30 + digit : 0x57 + digit
            rest >>= 4
        }
    }
}
