import Documents

/// Values as people type and read them.
enum ValueText {
    /// A number in the fewest digits that read back as the same.
    static func text(_ number: Double) -> String {
        // Zero has no sign for people.
        JSONNumber(number == 0 ? 0 : number)?.text ?? "\(number)"
    }

    /// Numbers with commas between them.
    static func text(_ numbers: [Double]) -> String {
        numbers.map { text($0) }.joined(separator: ",")
    }

    /// A vector as `1,2,3`.
    static func text(_ vector: Vector3) -> String { text([vector.x, vector.y, vector.z]) }

    /// A finite number in decimal digits.
    static func number(_ text: String) throws(EditError) -> Double {
        let trimmed = text.utf8.drop { $0 == 0x20 }
        let isPlain = trimmed.allSatisfy {
            (48...57).contains($0) || [0x2b, 0x2d, 0x2e, 0x45, 0x65, 0x20].contains($0)
        }
        let plain = String(Substring(trimmed)).split(separator: " ")
        guard isPlain, plain.count == 1, let number = Double(plain[0]) else {
            throw EditError(.data, "'\(text.prefix(64))' is not a number")
        }
        guard number.isFinite else {
            throw EditError(.outOfRange, "'\(text.prefix(64))' is beyond all numbers")
        }
        return number == 0 ? 0 : number
    }

    /// A number that a rule allows; `expected` says what would be right.
    static func number(
        _ text: String, _ expected: String, _ allows: (Double) -> Bool
    ) throws(EditError) -> Double {
        let number = try number(text)
        guard allows(number) else {
            throw EditError(.outOfRange, "\(ValueText.text(number)) where \(expected) is expected")
        }
        return number
    }

    /// A whole number from 1 to a bound.
    static func place(_ text: String, upTo count: Int) throws(EditError) -> Int {
        guard let number = Int(text) else {
            throw EditError(.data, "'\(text.prefix(64))' is not a whole number")
        }
        guard (1...max(count, 1)).contains(number) else {
            throw EditError(.outOfRange, "\(number) where 1 to \(max(count, 1)) is expected")
        }
        return number
    }

    /// Numbers with commas between them, as many as are expected.
    static func numbers(
        _ text: String, count: ClosedRange<Int>, _ expected: String
    ) throws(EditError) -> [Double] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard count.contains(words.count) else {
            throw EditError(.data, "'\(text.prefix(64))' where \(expected) is expected")
        }
        var numbers: [Double] = []
        for word in words { numbers.append(try number(String(word))) }
        return numbers
    }

    /// A vector within the limits of scenes.
    static func vector(_ text: String) throws(EditError) -> Vector3 {
        let parts = try numbers(text, count: 3...3, "x,y,z")
        let vector = Vector3(parts[0], parts[1], parts[2])
        try checkForScenes(vector)
        return vector
    }

    /// An error for a vector that scenes cannot hold.
    static func checkForScenes(_ vector: Vector3) throws(EditError) {
        for part in [vector.x, vector.y, vector.z] { try checkForScenes(part) }
    }

    /// An error for a number that scenes cannot hold.
    static func checkForScenes(_ number: Double) throws(EditError) {
        guard number.magnitude > Limits.sceneNumber else { return }
        let (side, bound) =
            number < 0 ? ("least", -Limits.sceneNumber) : ("most", Limits.sceneNumber)
        throw EditError(
            .outOfRange,
            "\(ValueText.text(number)) where at \(side) \(ValueText.text(bound)) is expected")
    }

    /// An error for a number that is no factor of size in scenes.
    static func checkFactor(_ number: Double) throws(EditError) {
        guard number > 0 else {
            throw EditError(
                .outOfRange, "\(ValueText.text(number)) where a factor greater than 0 is expected")
        }
        try checkForScenes(number)
    }

    /// `true` or `false`, also as `yes`, `no`, `on` and `off`.
    static func boolean(_ text: String) throws(EditError) -> Bool {
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw EditError(.data, "'\(text.prefix(64))' where true or false is expected")
        }
    }

    /// A colour as in CSS.
    static func color(_ text: String) throws(EditError) -> Color {
        guard let color = Color(text, isTolerant: false) else {
            guard Color(text) == nil else {
                throw EditError(
                    .outOfRange,
                    "'\(text)' where red, green and blue from 0 to 255 or 0% to 100%, and an alpha "
                        + "from 0 to 1 or 0% to 100%, are expected")
            }
            let near = NearNames.nearest(to: text, among: colorNames)
            throw EditError(
                .data,
                "'\(text.prefix(64))' is not a colour; "
                    + (near.map { "did you mean '\($0)'?" }
                        ?? "right would be #rgb, #rrggbb, #rrggbbaa, rgb(r,g,b), a CSS name or clear")
            )
        }
        return color
    }

    private static let colorNames = [
        "black", "white", "red", "green", "gray", "grey", "blue", "yellow", "orange", "purple",
        "pink", "brown", "cyan", "magenta", "lime", "navy", "teal", "olive", "maroon", "silver",
        "gold", "violet", "indigo", "turquoise", "salmon", "coral", "crimson", "clear",
        "transparent",
    ]
}
