internal import PathText

/// Results as text: a JSON object each, always of the same form.
package enum FoundLine {
    /// Bytes of an object beside its path and its title, at most.
    private static let rest = 256

    /// Appends the object, without a line end.
    package static func append(_ found: Found, to bytes: inout [UInt8]) {
        put("{\"path\": ", &bytes)
        quote(found.path.repairedPath, &bytes)
        // All that has a known length is written at once: there may be a hundred thousand.
        bytes.append(addingCapacity: rest) { (output: inout OutputSpan<UInt8>) in
            output.withUnsafeMutableBufferPointer { buffer, count in
                var writer = LineWriter(buffer, at: count)
                writer.put(", \"item\": ")
                writer.put(found.item.rawValue)
                writer.put(", \"document\": \"")
                writer.put(hexadecimal: found.document.rawValue)
                writer.put("\", \"folder\": ")
                writer.put(found.isFolder ? "true" : "false")
                writer.put(", \"size\": ")
                writer.put(found.size.magnitude)
                writer.put(", \"modified\": \"")
                writer.put(found.modified)
                writer.put("\", \"promise\": ")
                writer.put(found.isPromise ? "true" : "false")
                count = writer.count
            }
        }
        if let title = found.title {
            put(", \"title\": ", &bytes)
            quote(title, &bytes)
        }
        if let base64 = PathText.base64(found.path) {
            put(", \"pathBytes\": ", &bytes)
            quote(base64, &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func put(_ text: StaticString, _ bytes: inout [UInt8]) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a JSON string.
    private static func quote(_ text: String, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var plain = 0
            for place in 0..<utf8.count where isOdd(utf8[place]) {
                let byte = utf8[place]
                // The controls from U+0080 on: their second byte is their number.
                let isLead = byte == 0xc2 && utf8[place + 1] < 0xa0
                if byte == 0xc2, !isLead { continue }
                bytes.append(contentsOf: utf8[plain..<place])
                plain = place + (isLead ? 2 : 1)
                let code = isLead ? utf8[place + 1] : byte
                put("\\u00", &bytes)
                bytes.append(LineWriter.digit(code >> 4))
                bytes.append(LineWriter.digit(code & 15))
            }
            bytes.append(contentsOf: utf8[plain...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// What may not stand for itself in a string, or begins it.
    private static func isOdd(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f
            || byte == 0xc2
    }
}

/// Puts pieces of text one behind the other into a buffer that has room for them.
private struct LineWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    /// Bytes that are written.
    private(set) var count: Int

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>, at count: Int) {
        (self.buffer, self.count) = (buffer, count)
    }

    mutating func put(_ text: StaticString) {
        let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        UnsafeMutableRawBufferPointer(rest).copyMemory(from: UnsafeRawBufferPointer(bytes))
        count += bytes.count
    }

    mutating func put(_ number: UInt64) {
        var digits = 1
        var rest = number
        while rest >= 10 { (digits, rest) = (digits + 1, rest / 10) }
        rest = number
        for place in stride(from: count + digits - 1, through: count, by: -1) {
            buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Sixteen digits.
    mutating func put(hexadecimal number: UInt64) {
        for place in 0..<16 {
            let value = number >> UInt64(60 - 4 * place)
            buffer[count + place] = Self.digit(UInt8(truncatingIfNeeded: value & 15))
        }
        count += 16
    }

    mutating func put(_ time: Timestamp) { count += time.writeExactText(to: rest) }

    private var rest: UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableBufferPointer(rebasing: buffer[count...])
    }

    /// A hexadecimal digit.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
