import Documents

extension Camera: Fielded {
    var noun: String { "a camera" }

    var fields: [Field<Camera>] {
        [
            Field(
                "position", parts: ["x", "y", "z"], get: { ValueText.text($0.position) },
                set: { camera, text throws(EditError) in
                    camera.position =
                        try text.map(ValueText.vector) ?? Camera.standardPosition
                }),
            Field(
                "target", parts: ["x", "y", "z"],
                get: {
                    if case .target(let target) = $0.orientation {
                        ValueText.text(target)
                    } else {
                        nil
                    }
                },
                set: { camera, text throws(EditError) in
                    if let text, text != "none" {
                        camera.orientation = .target(try ValueText.vector(text))
                    } else if case .target = camera.orientation {
                        camera.orientation = .rotation(.none)
                    }
                }),
            Field(
                "rotation", parts: RotationText.parts,
                get: {
                    guard case .rotation(let rotation) = $0.orientation else { return nil }
                    return RotationText.text(rotation)
                },
                set: { camera, text throws(EditError) in
                    if text == nil, case .target = camera.orientation { return }
                    camera.orientation = .rotation(try RotationText.rotation(text))
                }),
            Field(
                "fieldOfView", aliases: ["fov"], form: .number,
                get: { ValueText.text($0.fieldOfView) },
                set: { camera, text throws(EditError) in
                    camera.fieldOfView = try ValueText.number(
                        text ?? ValueText.text(Camera.standardFieldOfView),
                        "a number of degrees from 1 to 179"
                    ) { (1...179).contains($0) }
                }),
        ]
    }
}
