import Documents

extension Scene {
    mutating func move(_ words: inout Arguments) throws(EditError) {
        let paths = try SceneParts(self).outermost([try words.target(leaving: 1)])
        let option = words.option(["by", "to"])
        let text = if let option { option.value } else { try words.next("X,Y,Z") }
        try words.end()
        let offset = try located("move") { () throws(EditError) in try ValueText.vector(text) }
        for path in paths {
            let old = nodes[at: path].transform.position
            let new = option?.key == "to" ? offset : old + offset
            try located("move") { () throws(EditError) in try ValueText.checkForScenes(new) }
            nodes[at: path].transform.position = new.tidy(unlike: old)
        }
    }

    mutating func rotate(_ words: inout Arguments) throws(EditError) {
        let paths = try SceneParts(self).outermost([try words.target(leaving: 1)])
        if let option = words.option(["to"]) {
            try words.end()
            let rotation = try located("rotate") { () throws(EditError) in
                try RotationText.rotation(option.value)
            }
            for path in paths { nodes[at: path].transform.rotation = rotation }
            return
        }
        let axis = try words.rest.count > 1 ? words.next("AXIS") : "y"
        let degrees = try words.next("DEGREES")
        try words.end()
        let rotation = try located("rotate") { () throws(EditError) in
            let number = try ValueText.number(degrees)
            try ValueText.checkForScenes(number)
            return Rotation(axis: try Scene.axis(axis), degrees: number)
        }
        for path in paths {
            nodes[at: path].transform.rotation.turn(by: rotation)
            let sum = nodes[at: path].transform.rotation.degrees
            try located("rotate") { () throws(EditError) in try ValueText.checkForScenes(sum) }
        }
    }

    mutating func scale(_ words: inout Arguments) throws(EditError) {
        let paths = try SceneParts(self).outermost([try words.target(leaving: 1)])
        let option = words.option(["by", "to"])
        let text = if let option { option.value } else { try words.next("FACTOR") }
        try words.end()
        let factors = try located("scale") { () throws(EditError) in try ScaleText.factors(text) }
        for path in paths {
            let old = nodes[at: path].transform.scale
            let new = option?.key == "to" ? factors : (old * factors)
            guard new.x > 0, new.y > 0, new.z > 0 else {
                throw EditError(.outOfRange, at: "scale", "smaller than numbers can be")
            }
            try located("scale") { () throws(EditError) in try ValueText.checkForScenes(new) }
            nodes[at: path].transform.scale = new
        }
    }

    mutating func color(_ words: inout Arguments) throws(EditError) {
        let paths = try SceneParts(self).outermost([try words.target(leaving: 1)])
        let option = words.option(["fill"])
        let text = if let option { option.value } else { try words.next("COLOR") }
        try words.end()
        for path in paths {
            try located("color") { () throws(EditError) in
                try nodes[at: path].changeSolids { solid throws(EditError) in
                    try solid.set("color", to: text)
                }
            }
        }
    }

    private static func axis(_ text: String) throws(EditError) -> Vector3 {
        switch text.lowercased() {
        case "x": return Vector3(1, 0, 0)
        case "y": return Vector3(0, 1, 0)
        case "z": return Vector3(0, 0, 1)
        default:
            let expected = "x, y, z or X,Y,Z is expected"
            guard text.contains(",") else {
                throw EditError(.data, "'\(text.prefix(64))' where \(expected)")
            }
            let axis = try ValueText.vector(text)
            guard axis != .zero else {
                throw EditError(.data, "the axis 0,0,0 has no direction; \(expected)")
            }
            return axis
        }
    }
}

extension Rotation {
    /// Turns further, about an axis that is not turned along.
    mutating func turn(by other: Rotation) {
        guard !other.isNone else { return }
        if isNone {
            self = other
        } else if axis == other.axis {
            // Kept in numbers people know: 45 and 45 is 90 about the same axis.
            degrees = (degrees + other.degrees).tidy
            if degrees == 0 { self = .none }
        } else {
            self = (Turn(other) * Turn(self)).rotation
        }
    }
}

/// Runs something, giving its errors a place.
func located<Result>(
    _ place: @autoclosure () -> String, _ body: () throws(EditError) -> Result
) throws(EditError) -> Result {
    do throws(EditError) {
        return try body()
    } catch {
        throw error.at(place())
    }
}
