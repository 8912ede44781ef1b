/// The bytes of one message between a test and a probe, while it is being written.
package struct FrameWriter: Sendable {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []

    /// An empty message.
    package init() {}

    /// Appends a number in eight bytes.
    package mutating func put(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a length and that many bytes.
    package mutating func put(_ content: [UInt8]) {
        put(content.count)
        bytes.append(contentsOf: content)
    }
}

/// The bytes of one message between a test and a probe, while it is being read.
package struct FrameReader: Sendable {
    /// A message ended too early or has a field that cannot be.
    package struct Malformed: Error {
        /// Made where a field does not fit.
        package init() {}
    }

    private let bytes: [UInt8]
    private var position = 0

    /// Starts at the first byte.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Takes a number of eight bytes.
    package mutating func number() throws -> Int {
        guard bytes.count - position >= 8 else { throw Malformed() }
        let value = bytes.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: position, as: Int64.self)
        }
        position += 8
        return Int(Int64(littleEndian: value))
    }

    /// Takes a length and that many bytes.
    package mutating func content() throws -> [UInt8] {
        let count = try number()
        guard count >= 0, bytes.count - position >= count else { throw Malformed() }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }
}
