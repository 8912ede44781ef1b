import Documents

/// The keys that solids and groups share.
enum NodeField {
    static func name<Owner>(
        _ get: @escaping @Sendable (Owner) -> String,
        _ set: @escaping @Sendable (inout Owner, String) -> Void
    ) -> Field<Owner> {
        Field(
            "name", get: { get($0).isEmpty ? nil : EscapedText.escaped(get($0)) },
            set: { owner, text throws(EditError) in
                let name = EscapedText.unescaped(text ?? "")
                // Others give names that are refused here: what `get` prints of them is taken.
                if name.utf8.elementsEqual(get(owner).utf8) { return }
                set(&owner, try NodeName.checked(name))
            })
    }

    static func visible<Owner>(
        _ get: @escaping @Sendable (Owner) -> Bool,
        _ set: @escaping @Sendable (inout Owner, Bool) -> Void
    ) -> Field<Owner> {
        Field(
            "visible", form: .boolean, get: { get($0) ? "true" : "false" },
            set: { owner, text throws(EditError) in
                set(&owner, try ValueText.boolean(text ?? "true"))
            })
    }

    static func transform<Owner>(
        _ get: @escaping @Sendable (Owner) -> Transform,
        _ set: @escaping @Sendable (inout Owner, Transform) -> Void
    ) -> [Field<Owner>] {
        [
            Field(
                "position", parts: ["x", "y", "z"], get: { ValueText.text(get($0).position) },
                set: { owner, text throws(EditError) in
                    var transform = get(owner)
                    transform.position = try ValueText.vector(text ?? "0,0,0")
                    set(&owner, transform)
                }),
            Field(
                "rotation", parts: RotationText.parts, get: { RotationText.text(get($0).rotation) },
                set: { owner, text throws(EditError) in
                    var transform = get(owner)
                    transform.rotation = try RotationText.rotation(text)
                    set(&owner, transform)
                }),
            Field(
                "scale", parts: ["x", "y", "z"], get: { ValueText.text(get($0).scale) },
                set: { owner, text throws(EditError) in
                    var transform = get(owner)
                    transform.scale = try ScaleText.factors(text ?? "1")
                    set(&owner, transform)
                }),
        ]
    }
}

/// Rotations as `x,y,z,degrees`.
enum RotationText {
    static let parts = ["x", "y", "z", "degrees"]

    static func text(_ rotation: Rotation) -> String {
        ValueText.text([rotation.axis.x, rotation.axis.y, rotation.axis.z, rotation.degrees])
    }

    /// The rotation of a text; none for `none`.
    static func rotation(_ text: String?) throws(EditError) -> Rotation {
        guard let text, text != "none" else { return .none }
        let parts = try ValueText.numbers(
            text, count: 4...4, "x,y,z,degrees (an axis and how far) or none")
        for part in parts { try ValueText.checkForScenes(part) }
        return Rotation(axis: Vector3(parts[0], parts[1], parts[2]), degrees: parts[3])
    }
}

/// Factors of size: one for all directions, or three.
enum ScaleText {
    static func factors(_ text: String) throws(EditError) -> Vector3 {
        let parts = try ValueText.numbers(text, count: 1...3, "a factor or x,y,z")
        guard parts.count != 2 else {
            throw EditError(.data, "'\(text.prefix(64))' where a factor or x,y,z is expected")
        }
        for part in parts { try ValueText.checkFactor(part) }
        return parts.count == 1
            ? Vector3(parts[0], parts[0], parts[0]) : Vector3(parts[0], parts[1], parts[2])
    }
}
