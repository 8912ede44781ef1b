import Documents

/// Judges JSON by a JSON Schema, as far as the schemas of this project go: an unknown keyword is a
/// mistake of the schema.
struct SchemaValidator {
    struct Unsupported: Error { let keyword: String }

    private let root: JSONValue

    init(_ schema: JSONValue) { root = schema }

    func accepts(_ value: JSONValue) throws -> Bool { try accepts(value, root) }

    private func accepts(_ value: JSONValue, _ schema: JSONValue) throws -> Bool {
        guard let members = schema.object?.members else { return true }
        return try members.allSatisfy { try holds($0.key, $0.value, for: value) }
    }

    private func holds(_ keyword: String, _ rule: JSONValue, for value: JSONValue) throws -> Bool {
        switch keyword {
        case "$schema", "$defs", "title", "description", "default": return true
        case "$ref": return try accepts(value, definition(rule))
        case "oneOf":
            return try (rule.array ?? []).filter { try accepts(value, $0) }.count == 1
        case "not": return try !accepts(value, rule)
        case "const": return value == rule
        case "enum": return rule.array?.contains(value) == true
        case "type": return isType(value, rule.string)
        case "minimum", "maximum", "exclusiveMinimum":
            guard let number = value.double, let bound = rule.double else { return true }
            if keyword == "minimum" { return number >= bound }
            return keyword == "maximum" ? number <= bound : number > bound
        case "maxLength":
            guard let text = value.string else { return true }
            return text.unicodeScalars.count <= rule.integer ?? 0
        case "pattern":
            guard let text = value.string, let pattern = rule.string else { return true }
            return try text.firstMatch(of: Regex(pattern)) != nil
        case "minItems": return value.array.map { $0.count >= rule.integer ?? 0 } ?? true
        case "maxItems": return value.array.map { $0.count <= rule.integer ?? 0 } ?? true
        case "items": return try value.array?.allSatisfy { try accepts($0, rule) } ?? true
        case "required":
            guard let object = value.object else { return true }
            return rule.array?.allSatisfy { $0.string.map { object[$0] != nil } ?? false } ?? false
        case "properties":
            guard let object = value.object else { return true }
            return try (rule.object?.members ?? []).allSatisfy { member in
                try object[member.key].map { try accepts($0, member.value) } ?? true
            }
        default: throw Unsupported(keyword: keyword)
        }
    }

    private func definition(_ reference: JSONValue) throws -> JSONValue {
        let name = reference.string?.split(separator: "/").last.map(String.init) ?? ""
        guard let definition = root.object?["$defs"]?.object?[name] else {
            throw Unsupported(keyword: "$ref \(name)")
        }
        return definition
    }

    private func isType(_ value: JSONValue, _ type: String?) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("number", .number),
            ("boolean", .boolean), ("null", .null):
            true
        case ("integer", .number(let number)): number.integer != nil
        default: false
        }
    }
}
