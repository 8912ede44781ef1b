/// Characters that mean something in XML, in values of attributes. Pure.
enum MarkupText {
    private static let names: [(plain: UInt8, name: String)] = [
        (UInt8(ascii: "&"), "amp"), (UInt8(ascii: "<"), "lt"), (UInt8(ascii: ">"), "gt"),
        (0x22, "quot"), (0x27, "apos"),
    ]

    /// The text as GLib writes it.
    static func escaped(_ text: String) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            guard let name = names.first(where: { $0.plain == byte })?.name else { return [byte] }
            return Array("&\(name);".utf8)
        }
    }

    /// The text that a value stands for; nil if it has a reference that is not known.
    static func plain(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = value
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "&") else {
                result.append(byte)
                continue
            }
            guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let bytes = referred(String(decoding: rest[..<end], as: UTF8.self))
            else { return nil }
            result += bytes
            rest = rest[(end + 1)...]
        }
        return result
    }

    /// What `&name;` stands for.
    private static func referred(_ name: String) -> [UInt8]? {
        if let byte = names.first(where: { $0.name == name })?.plain { return [byte] }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let number =
            digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let scalar = number.flatMap(Unicode.Scalar.init) else { return nil }
        return Array(String(scalar).utf8)
    }
}
