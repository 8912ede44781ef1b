import Documents

extension Scene: Fielded {
    var noun: String { "a scene" }

    var fields: [Field<Scene>] {
        [
            Field(
                "title", get: { $0.title.map { EscapedText.escaped($0) } },
                set: { scene, text throws(EditError) in
                    scene.title = try text.map { text throws(EditError) in
                        try NodeName.checkedLength(EscapedText.unescaped(text))
                    }
                }),
            Field(
                "background", aliases: ["bgcolor"], get: { $0.background?.description },
                set: { scene, text throws(EditError) in
                    scene.background =
                        text == nil || text == "none" ? nil : try ValueText.color(text ?? "")
                }),
            Field(
                "version", form: .number, isFixed: true, get: { "\($0.version)" },
                set: { _, _ throws(EditError) in
                    throw EditError(.data, "the version of the format cannot be changed")
                }),
        ]
    }
}

extension Solid: Fielded {
    var noun: String { "a \(shape.kind.name)" }

    var fields: [Field<Solid>] { Solid.fieldsOfKinds[shape.kind] ?? [] }

    /// Made once: a scene may have very many solids.
    private static let fieldsOfKinds = Dictionary(
        uniqueKeysWithValues: SolidKind.allCases.map { ($0, makeFields(of: $0)) })

    private static func makeFields(of kind: SolidKind) -> [Field<Solid>] {
        let common: [Field<Solid>] = [
            NodeField.name({ $0.name }, { $0.name = $1 }),
            Field(
                "shape", aliases: ["type", "kind"], get: { $0.shape.kind.name },
                set: { solid, text throws(EditError) in
                    let kind = try SolidKind.named(text)
                    if kind != solid.shape.kind { solid.shape = SolidShape(kind) }
                }),
        ]
        let rest: [Field<Solid>] = [
            Field(
                "color", get: { $0.color?.description },
                standard: { $0.effectiveColor.description },
                set: { solid, text throws(EditError) in
                    let isNone = text == nil || text == "none"
                    solid.color = isNone ? nil : try ValueText.color(text ?? "")
                }),
            Field(
                "opacity", form: .number, get: { ValueText.text($0.opacity) },
                set: { solid, text throws(EditError) in
                    solid.opacity = try ValueText.number(text ?? "1", "a number from 0 to 1") {
                        (0...1).contains($0)
                    }
                }),
            NodeField.visible({ $0.isVisible }, { $0.isVisible = $1 }),
        ]
        return common + dimensionFields(of: kind)
            + NodeField.transform({ $0.transform }, { $0.transform = $1 }) + rest
    }

    private static func dimensionFields(of kind: SolidKind) -> [Field<Solid>] {
        SolidShape(kind).dimensions.map { dimension in
            let key = dimension.name
            return Field(
                key, form: .number,
                get: { solid in
                    let found = solid.shape.dimensions.first { $0.name == key }
                    return found.map { ValueText.text($0.value) }
                },
                set: { solid, text throws(EditError) in
                    let least = dimension.mayBeZero ? "0 or more" : "more than 0"
                    let expected = "a number of \(least), at most \(Limits.sceneNumber)"
                    let number = try ValueText.number(
                        text ?? ValueText.text(dimension.value), expected
                    ) { dimension.allows($0) }
                    solid.shape = solid.shape.setting(key, to: number) ?? solid.shape
                })
        }
    }
}

extension Group: Fielded {
    var noun: String { "a group" }

    var fields: [Field<Group>] {
        [
            NodeField.name({ $0.name }, { $0.name = $1 }),
            Field(
                "type", aliases: ["shape", "kind"], get: { _ in "group" },
                set: { _, text throws(EditError) in
                    guard text == "group" else {
                        throw EditError(.data, "a group stays one; see ungroup")
                    }
                }),
        ] + NodeField.transform({ $0.transform }, { $0.transform = $1 }) + [
            NodeField.visible({ $0.isVisible }, { $0.isVisible = $1 })
        ]
    }
}

extension SolidKind {
    /// The kind of a name.
    static func named(_ text: String?) throws(EditError) -> SolidKind {
        guard let text else { throw EditError(.data, "a solid needs a shape") }
        guard let kind = SolidKind(name: text) else {
            throw EditError(
                .data, NearNames.unknown("shape", text, among: SolidKind.allCases.map(\.name)))
        }
        return kind
    }
}
