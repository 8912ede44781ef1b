import Documents

/// The names of solids and groups.
enum NodeName {
    /// A name that can be given; what cannot be typed or seen is refused.
    static func checked(_ name: String) throws(EditError) -> String {
        let isVisible = name.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control
                && $0.properties.generalCategory != .lineSeparator
                && $0.properties.generalCategory != .paragraphSeparator
        }
        guard isVisible else {
            throw EditError(.data, "a name has one line and no control characters")
        }
        let words = name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let isLabel =
            words.count == 2 && SceneParts.kinds.contains(String(words[0])) && Int(words[1]) != nil
        guard !isLabel, Int(name) == nil, !SceneParts.reserved.contains(name.lowercased()) else {
            throw EditError(.data, "'\(name)' means something else in paths; add a word to it")
        }
        return try checkedLength(name)
    }

    /// A name or title that is not too long.
    static func checkedLength(_ text: String) throws(EditError) -> String {
        guard text.unicodeScalars.count <= Limits.nameLength else {
            throw EditError(.outOfRange, "more than \(Limits.nameLength) characters")
        }
        return text
    }

    /// The name itself, or with the lowest number from 2 after it that nothing is called yet.
    static func free(_ name: String, among taken: Set<String>) -> String {
        var names = FreeNames(taken: taken)
        return names.take(name)
    }
}

/// Gives names that nothing is called yet.
struct FreeNames {
    private var taken: Set<String>
    /// Numbers below these are known to be taken.
    private var next: [String: Int] = [:]

    init(taken: Set<String>) { self.taken = taken }

    /// Something is called so now.
    mutating func use(_ name: String) { taken.insert(name) }

    /// The name itself, or with the lowest number from 2 after it that is free; it is taken then.
    mutating func take(_ name: String) -> String {
        guard !taken.insert(name).inserted else { return name }
        var base = name
        if let blank = name.lastIndex(of: " "), Int(name[name.index(after: blank)...]) != nil {
            base = String(name[..<blank])
        }
        var number = next[base] ?? 2
        while !taken.insert("\(base) \(number)").inserted { number += 1 }
        next[base] = number + 1
        return "\(base) \(number)"
    }
}

extension Scene {
    /// What a solid of a kind is called if nobody says otherwise.
    static func standardName(_ kind: String) -> String {
        kind.prefix(1).uppercased() + kind.dropFirst()
    }
}
