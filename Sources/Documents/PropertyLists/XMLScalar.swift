internal import PathText

/// The values of XML property lists that are written as text.
enum XMLScalar {
    /// The value of the text of an `integer`, `real`, `date` or `data`; nil if it is none.
    static func value(of text: String, type: String) -> PropertyList? {
        let trimmed = text.utf8.trimmingBlanks()
        // Data may be long; the others are short, and hostile ones not worth a look.
        if type == "data" { return Base64.decode(text.utf8).map { .data($0) } }
        guard trimmed.count <= 512 else { return nil }
        let word = String(decoding: Array(trimmed), as: UTF8.self)
        switch type {
        case "integer": return integer(word)
        case "real": return real(word).map { .real($0) }
        default: return date(Array(trimmed)).map { .date($0) }
        }
    }

    /// A decimal or hexadecimal number, with a sign or without.
    private static func integer(_ word: String) -> PropertyList? {
        let isSigned = word.hasPrefix("-") || word.hasPrefix("+")
        let digits = isSigned ? word.dropFirst() : word[...]
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let number = isHexadecimal ? digits.dropFirst(2) : digits
        let radix = isHexadecimal ? 16 : 10
        // Numbers are parsed with a sign of their own, which would be a second one.
        guard let first = number.first, first != "-", first != "+" else { return nil }
        if word.hasPrefix("-") { return Int64("-" + number, radix: radix).map { .integer($0) } }
        return UInt64(number, radix: radix).map { .whole($0) }
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
}
