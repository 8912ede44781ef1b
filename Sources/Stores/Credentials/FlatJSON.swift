/// Reads one JSON object whose values are strings, numbers, booleans and null, which is all that a
/// credential process prints.
enum FlatJSON {
    /// Name and value of each member; numbers and booleans as they are written. `nil` if the text is
    /// anything else.
    static func object(_ text: String) -> [String: String]? {
        var rest = Array(text.unicodeScalars)[...]
        var result: [String: String] = [:]
        skip(&rest)
        guard rest.popFirst() == "{" else { return nil }
        skip(&rest)
        if rest.first == "}" { return result }
        while true {
            skip(&rest)
            guard let name = string(&rest) else { return nil }
            skip(&rest)
            guard rest.popFirst() == ":" else { return nil }
            skip(&rest)
            guard let value = rest.first == "\"" ? string(&rest) : word(&rest) else { return nil }
            result[name] = value
            skip(&rest)
            switch rest.popFirst() {
            case ",": continue
            case "}":
                skip(&rest)
                return rest.isEmpty ? result : nil
            default: return nil
            }
        }
    }

    private typealias Rest = ArraySlice<Unicode.Scalar>

    private static func skip(_ rest: inout Rest) {
        rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" }
    }

    private static func word(_ rest: inout Rest) -> String? {
        let word = rest.prefix {
            $0.properties.isAlphabetic || ("0"..."9").contains($0)
                || "+-.".unicodeScalars.contains($0)
        }
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(String.UnicodeScalarView(word))
    }

    private static func string(_ rest: inout Rest) -> String? {
        guard rest.popFirst() == "\"" else { return nil }
        var units: [UInt16] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(validating: units, as: UTF16.self)
            case "\\":
                guard let escape = rest.popFirst() else { return nil }
                switch escape {
                case "b": units.append(8)
                case "f": units.append(12)
                case "n": units.append(10)
                case "r": units.append(13)
                case "t": units.append(9)
                case "u":
                    let digits = String(String.UnicodeScalarView(rest.prefix(4)))
                    guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16) else {
                        return nil
                    }
                    units.append(unit)
                    rest = rest.dropFirst(4)
                case "\"", "\\", "/": units += String(escape).utf16
                default: return nil
                }
            default: units += String(scalar).utf16
            }
        }
        return nil
    }
}
