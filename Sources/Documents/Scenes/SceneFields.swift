/// Reads the keys of one object of a scene, with their defaults and what they allow.
struct SceneFields {
    let object: JSONObject
    /// The object's path, as in `nodes[2]`; empty for the root.
    let path: String

    func error(_ kind: DocumentError.Kind, _ key: String, _ reason: String) -> DocumentError {
        DocumentError(kind, at: .path(path.isEmpty ? key : "\(path).\(key)"), reason)
    }

    func number(
        _ key: String, default standard: Double, _ expected: String, _ allows: (Double) -> Bool
    ) throws(DocumentError) -> Double {
        guard let value = object[key] else { return standard }
        guard case .number = value else {
            throw error(.wrongType, key, "\(value.typeName) where \(expected) is expected")
        }
        guard let number = value.double, allows(number) else {
            throw error(.badValue, key, "out of range: \(expected) is expected")
        }
        return number
    }

    func vector(_ key: String, default standard: Vector3) throws(DocumentError) -> Vector3 {
        guard let value = object[key] else { return standard }
        let parts = try numbers(value, key, count: 3, "an array of three numbers")
        return Vector3(parts[0], parts[1], parts[2])
    }

    func rotation(_ key: String) throws(DocumentError) -> Rotation {
        guard let value = object[key] else { return .none }
        let parts = try numbers(value, key, count: 4, "an array of x, y, z and degrees")
        return Rotation(axis: Vector3(parts[0], parts[1], parts[2]), degrees: parts[3])
    }

    /// Three factors, or one for all; each greater than 0.
    func scale(_ key: String) throws(DocumentError) -> Vector3 {
        guard let value = object[key] else { return .one }
        let expected = "a number or an array of three numbers"
        let isOne = if case .number = value { true } else { false }
        let parts = try numbers(
            isOne ? .array([value, value, value]) : value, key, count: 3, expected)
        guard parts.allSatisfy({ $0 > 0 }) else {
            throw error(.badValue, key, "a factor of 0 or less: more is expected")
        }
        return Vector3(parts[0], parts[1], parts[2])
    }

    private func numbers(
        _ value: JSONValue, _ key: String, count: Int, _ expected: String
    ) throws(DocumentError) -> [Double] {
        guard let elements = value.array else {
            throw error(.wrongType, key, "\(value.typeName) where \(expected) is expected")
        }
        let numbers = elements.compactMap(\.double)
        guard elements.count == count, numbers.count == count else {
            throw error(.badValue, key, "not what is expected: \(expected)")
        }
        guard numbers.allSatisfy({ $0.magnitude <= Limits.sceneNumber }) else {
            throw error(
                .badValue, key,
                "out of range: numbers from -\(Limits.sceneNumber) to \(Limits.sceneNumber) "
                    + "are expected")
        }
        return numbers
    }

    func color(_ key: String) throws(DocumentError) -> Color? {
        guard let value = object[key] else { return nil }
        guard let text = value.string else {
            throw error(.wrongType, key, "\(value.typeName) where a colour is expected")
        }
        guard let color = Color(hexadecimal: text) else {
            throw error(
                .badValue, key,
                "'\(text.prefix(64))' is not a colour: #rgb, #rrggbb or #rrggbbaa is expected")
        }
        return color
    }

    func text(_ key: String) throws(DocumentError) -> String? {
        guard let value = object[key] else { return nil }
        guard let text = value.string else {
            throw error(.wrongType, key, "\(value.typeName) where a string is expected")
        }
        guard text.unicodeScalars.count <= Limits.nameLength else {
            throw error(.tooLarge, key, "more than \(Limits.nameLength) characters")
        }
        return text
    }

    func flag(_ key: String, default standard: Bool) throws(DocumentError) -> Bool {
        guard let value = object[key] else { return standard }
        guard let flag = value.boolean else {
            throw error(.wrongType, key, "\(value.typeName) where true or false is expected")
        }
        return flag
    }

    func array(_ key: String) throws(DocumentError) -> [JSONValue] {
        guard let value = object[key] else { throw error(.missing, key, "missing") }
        guard let array = value.array else {
            throw error(.wrongType, key, "\(value.typeName) where an array is expected")
        }
        return array
    }
}
