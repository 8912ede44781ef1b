import Documents

extension TaskList {
    /// A sentence for each thing that lines of text made of the list do not hold, or say in another
    /// way. Which items they were, no lines of text tell.
    var notesOfLines: [String] {
        var missing: [(path: String, what: String)] = []
        if color != .gray { missing.append(("color", color.name)) }
        missing += losses.map { ($0.path, $0.typeName) }
        missing += otherEntries.map { ($0.key, "an unknown key") }
        for (number, item) in items.enumerated() {
            let path = "item.\(number + 1)"
            missing += item.otherEntries.map { ("\(path).\($0.key)", "an unknown key") }
            if item.isPadded { missing.append(("\(path).text", "blanks around it")) }
        }
        return missing.map { path, what in
            "\(EscapedText.escaped(path)): \(what), which lines of text do not hold"
        } + joinedItems
    }
}
