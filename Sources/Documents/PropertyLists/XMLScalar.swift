/// The values of XML property lists that are written as text.
enum XMLScalar {
    /// The value of the text of an `integer`, `real`, `date` or `data`; nil if it is none.
    static func value(of text: String, type: String) -> PropertyList? {
        let trimmed = text.utf8.trimmingBlanks()
        // Data may be long; the others are short, and hostile ones not worth a look.
        if type == "data" { return base64(text.utf8).map { .data($0) } }
        guard trimmed.count <= 512 else { return nil }
        let word = String(decoding: Array(trimmed), as: UTF8.self)
        switch type {
        case "integer": return integer(word).map { .integer($0) }
        case "real": return real(word).map { .real($0) }
        default: return date(Array(trimmed)).map { .date($0) }
        }
    }

    private static func integer(_ word: String) -> Int64? {
        let digits = word.hasPrefix("-") || word.hasPrefix("+") ? word.dropFirst() : word[...]
        guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else { return Int64(word) }
        return Int64((word.hasPrefix("-") ? "-" : "") + digits.dropFirst(2), radix: 16)
    }

    private static func real(_ word: String) -> Double? {
        switch word.lowercased() {
        case "nan": return .nan
        case "inf", "+inf", "infinity", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default:
            guard word.utf8.allSatisfy({ (43...57).contains($0) || $0 | 0x20 == 0x65 }) else {
                return nil
            }
            return Double(word)
        }
    }

    /// `2026-11-21T11:49:17Z`, in seconds since the beginning of 2001.
    private static func date(_ text: [UInt8]) -> Double? {
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard text.count == pattern.count else { return nil }
        var numbers = [0]
        for (byte, expected) in zip(text, pattern) {
            if expected == UInt8(ascii: "0") {
                guard (48...57).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte) - 48
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        guard (1...12).contains(numbers[1]), (1...31).contains(numbers[2]), numbers[3] < 24,
            numbers[4] < 60, numbers[5] < 61
        else { return nil }
        let seconds = numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        return Double(days(numbers[0], numbers[1], numbers[2]) * 86_400 + seconds)
    }

    /// Days since the beginning of 2001 in the Gregorian calendar; years count from March, so that
    /// the leap day is a year's last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = year - (month <= 2 ? 1 : 0) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let all = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear
        // The same for the first of January 2001.
        return all - 876_888
    }

    private static func base64(_ text: String.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for byte in text where !byte.isBlank {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = sextet(byte) else { return nil }
            bits = bits << 6 | value
            count += 1
            if count % 4 == 0 {
                bytes += [
                    UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255),
                ]
                bits = 0
            }
        }
        guard padding <= 2 else { return nil }
        switch count % 4 {
        case 0: return bytes
        case 2: return bytes + [UInt8(bits >> 4 & 255)]
        case 3: return bytes + [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)]
        default: return nil
        }
    }

    private static func sextet(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
