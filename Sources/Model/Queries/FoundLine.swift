/// Results as text: a JSON object each, always of the same form.
package enum FoundLine {
    /// Appends the object, without a line end.
    package static func append(_ found: Found, to bytes: inout [UInt8]) {
        put("{\"path\": ", &bytes)
        quote(found.path, &bytes)
        put(", \"item\": ", &bytes)
        put(found.item.rawValue, &bytes)
        put(", \"document\": \"", &bytes)
        let start = bytes.count
        put("0000000000000000", &bytes)
        bytes.withUnsafeMutableBufferPointer { bytes in
            var rest = found.document.rawValue
            for place in stride(from: start + 15, through: start, by: -1) {
                bytes[place] = digit(UInt8(truncatingIfNeeded: rest & 15))
                rest >>= 4
            }
        }
        put("\", \"folder\": ", &bytes)
        put(found.isFolder ? "true" : "false", &bytes)
        put(", \"size\": ", &bytes)
        put(found.size.magnitude, &bytes)
        put(", \"modified\": \"", &bytes)
        found.modified.appendExactText(to: &bytes)
        put("\", \"promise\": ", &bytes)
        put(found.isPromise ? "true" : "false", &bytes)
        if let title = found.title {
            put(", \"title\": ", &bytes)
            quote(title, &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func put(_ text: StaticString, _ bytes: inout [UInt8]) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func put(_ number: UInt64, _ bytes: inout [UInt8]) {
        let start = bytes.count
        var rest = number
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// A hexadecimal digit.
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
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
                bytes.append(digit(code >> 4))
                bytes.append(digit(code & 15))
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
