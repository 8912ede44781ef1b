// Strings and numbers.
extension JSONReader {
    mutating func number() throws(DocumentError) -> JSONNumber {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        if next == UInt8(ascii: "0") {
            offset += 1
            // It would be taken for two numbers that lack a comma.
            guard !(48...57).contains(next), next | 0x20 != UInt8(ascii: "x") else {
                throw error(
                    .malformed, at: start,
                    "a number in decimal without zeros before it is expected here")
            }
        } else {
            try digits()
        }
        if next == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if next | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        guard offset - start <= Limits.jsonNumberBytes else {
            throw error(
                .tooLarge, at: start, "a number of more than \(Limits.jsonNumberBytes) digits")
        }
        return JSONNumber(checkedText: String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    private mutating func digits() throws(DocumentError) {
        guard (48...57).contains(next) else {
            throw error(.malformed, at: offset, "a digit is expected here")
        }
        while (48...57).contains(next) { offset += 1 }
    }

    /// Reads a string; the offset is at its first quotation mark.
    mutating func string() throws(DocumentError) -> String {
        offset += 1
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                defer { offset += 1 }
                return try text(bytes[start..<offset], at: start)
            case UInt8(ascii: "\\"), 0..<0x20:
                return try escapedString(from: start)
            default: offset += 1
            }
        }
        throw error(.malformed, at: start - 1, "a string without an end")
    }

    /// Reads on in a string that needs more than copying.
    private mutating func escapedString(from start: Int) throws(DocumentError) -> String {
        var unescaped = Array(bytes[start..<offset])
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return try text(unescaped[...], at: start)
            case UInt8(ascii: "\\"):
                try escape(into: &unescaped)
            case 0..<0x20:
                try repair(.controlCharacter, at: offset)
                unescaped.append(byte)
                offset += 1
            default:
                unescaped.append(byte)
                offset += 1
            }
        }
        throw error(.malformed, at: start - 1, "a string without an end")
    }

    private mutating func text(
        _ slice: ArraySlice<UInt8>, at start: Int
    ) throws(DocumentError) -> String {
        if let text = String(validating: slice, as: UTF8.self) { return text }
        try repair(.invalidText, at: start)
        return String(decoding: slice, as: UTF8.self)
    }

    private mutating func escape(into text: inout [UInt8]) throws(DocumentError) {
        let start = offset
        offset += 2
        switch start + 1 < bytes.count ? bytes[start + 1] : 0 {
        case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "u"):
            let unit = UInt32(try codeUnit(at: start))
            var scalar = Unicode.Scalar(unit)
            if (0xd800..<0xdc00).contains(unit), next == UInt8(ascii: "\\"),
                offset + 1 < bytes.count, bytes[offset + 1] == UInt8(ascii: "u")
            {
                let second = offset
                offset += 2
                let low = UInt32(try codeUnit(at: second))
                if (0xdc00..<0xe000).contains(low) {
                    scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
                } else {
                    // Not the other half: it is read again as an escape of its own.
                    offset = second
                }
            }
            if scalar == nil { try repair(.invalidText, at: start) }
            let encoded = scalar.flatMap { UTF8.encode($0) }
            text.append(contentsOf: encoded ?? UTF8.encodedReplacementCharacter)
        default: throw error(.malformed, at: start, "an escape that JSON does not have")
        }
    }

    /// Four hexadecimal digits; `start` is where their escape began.
    private mutating func codeUnit(at start: Int) throws(DocumentError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.hexadecimalValue else {
                throw error(.malformed, at: start, "four hexadecimal digits are expected after \\u")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}
