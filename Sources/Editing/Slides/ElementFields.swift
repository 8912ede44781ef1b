import Documents

extension SlideElement: Fielded {
    var noun: String {
        guard let type = shapeType, ElementKeys.types.contains(type) else { return "an element" }
        return ["arc", "ellipse"].contains(type) ? "an \(type)" : "a \(type)"
    }

    var fields: [Field<SlideElement>] {
        let type = shapeType
        return type.flatMap { SlideElement.fieldsOfTypes[$0] } ?? SlideElement.makeFields(of: type)
    }

    /// Made once: a slide may have very many elements.
    private static let fieldsOfTypes = Dictionary(
        uniqueKeysWithValues: ElementKeys.types.map { ($0, makeFields(of: $0)) })

    private static func makeFields(of type: String?) -> [Field<SlideElement>] {
        let keys = ElementKeys.keys(of: type)
        var fields = keys.compactMap { key in
            ElementKeys.values[key].map { SlideElement.field(key, $0, in: type) }
        }
        // Points that keys hold by halves can be set as a whole.
        for (name, aliases, halves) in SlideElement.pairs where keys.contains(halves[0]) {
            fields.append(SlideElement.pair(name, aliases, halves[0], halves[1]))
        }
        return fields
    }

    private static let pairs: [(String, [String], [String])] = [
        ("position", ["origin", "center", "start"], ["originx", "originy"]),
        ("end", [], ["endx", "endy"]), ("size", [], ["width", "height"]),
        ("controlPoint1", [], ["controlPoint1x", "controlPoint1y"]),
        ("controlPoint2", [], ["controlPoint2x", "controlPoint2y"]),
    ]

    private static func field(
        _ key: String, _ value: ElementValue, in type: String?
    ) -> Field<SlideElement> {
        Field(
            key, aliases: ElementKeys.aliases(of: key, in: type), form: value.form,
            get: { $0.json[key].map { JSONText.text($0) } },
            standard: { _ in ElementKeys.standard[key] },
            set: { element, text throws(EditError) in
                guard let text, !(value == .color && text == "none") else {
                    if let type, ElementKeys.needed(by: type).contains(key) || key == "shapeType" {
                        throw EditError(.data, "\(element.noun) needs it")
                    }
                    element.json[key] = nil
                    return
                }
                if value == .shapeType { return try element.become(text) }
                let old = element.json[key]
                // A file may hold a 0, which no edit brings in.
                if value == .opacity, let old, old.double != nil, JSONText.text(old) == text {
                    return
                }
                let new = try value.json(text)
                // The text of what says the same already stays as it is.
                if let old, value.isSame(old, new) { return }
                if old == nil, ElementKeys.standard[key] == JSONText.text(new) { return }
                element.json[key] = new
            })
    }

    private static func pair(
        _ name: String, _ aliases: [String], _ first: String, _ second: String
    ) -> Field<SlideElement> {
        let parts = name == "size" ? ["width", "height"] : ["x", "y"]
        return Field(
            name, aliases: aliases, parts: parts,
            get: { element in
                guard let x = element.json[first]?.double, let y = element.json[second]?.double
                else { return nil }
                return ValueText.text([x, y])
            },
            set: { element, text throws(EditError) in
                guard let text else {
                    try element.set(first, to: nil)
                    return try element.set(second, to: nil)
                }
                let expected = parts.joined(separator: ",")
                let numbers = try ValueText.numbers(text, count: 2...2, expected)
                try element.set(first, to: ValueText.text(numbers[0]))
                try element.set(second, to: ValueText.text(numbers[1]))
            })
    }

    /// Makes it an element of another type, which gets what it needs besides.
    private mutating func become(_ type: String) throws(EditError) {
        let name = type.lowercased()
        guard ElementKeys.types.contains(name) else {
            throw EditError(.data, NearNames.unknown("type", type, among: ElementKeys.types))
        }
        guard name != shapeType else { return }
        json["shapeType"] = .string(name)
        let template = SlideElement.template(name, on: .standard)
        let needed = ElementKeys.needed(by: name) + (name == "chain" ? ["elements"] : [])
        for key in needed where json[key] == nil { json[key] = template.json[key] }
    }
}

extension ElementKeys {
    /// What counts where a key is missing, as far as that does not depend on other keys.
    static let standard = [
        "opacity": "1", "thickness": "1", "alignment": "left", "interactive": "false",
    ]
}

extension ElementValue {
    /// What it is for programs.
    fileprivate var form: ValueForm {
        switch self {
        case .number, .atLeastZero, .moreThanZero, .opacity: .number
        case .boolean: .boolean
        case .color, .text, .alignment, .shapeType: .text
        }
    }

    /// The JSON of a value that somebody typed.
    func json(_ text: String) throws(EditError) -> JSONValue {
        switch self {
        case .number: return .number(try ValueText.number(text))
        case .atLeastZero:
            return .number(try ValueText.number(text, "a number of 0 or more") { $0 >= 0 })
        case .moreThanZero:
            return .number(try ValueText.number(text, "a number greater than 0") { $0 > 0 })
        case .opacity:
            let expected = "a number of more than 0, at most 1 (0 counts as 1 in slides)"
            return .number(try ValueText.number(text, expected) { $0 > 0 && $0 <= 1 })
        case .color: return .string(try ValueText.color(text).description)
        case .text, .shapeType: return .string(EscapedText.unescaped(text))
        case .boolean: return .boolean(try ValueText.boolean(text))
        case .alignment:
            let lower = text.lowercased()
            guard SlideText.Alignment(rawValue: lower) != nil else {
                let names = SlideText.Alignment.allCases.map(\.rawValue)
                throw EditError(.data, NearNames.unknown("alignment", text, among: names))
            }
            return .string(lower)
        }
    }

    /// Whether both say the same.
    func isSame(_ old: JSONValue, _ new: JSONValue) -> Bool {
        if old == new { return true }
        guard self == .color, let old = old.string, let new = new.string else { return false }
        return ValueColor.isSame(old, new)
    }
}
