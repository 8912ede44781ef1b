import Documents

extension TaskList: Fielded {
    var noun: String { "a list" }

    var fields: [Field<TaskList>] {
        [
            Field(
                "color", aliases: ["background"], get: { $0.color.name },
                set: { list, text throws(EditError) in list.color = try ListColor.named(text) })
        ]
    }
}

extension TaskItem: Fielded {
    var noun: String { "an item" }

    var fields: [Field<TaskItem>] {
        [
            Field(
                "text", aliases: ["name"], get: { EscapedText.escaped($0.text) },
                set: { item, text throws(EditError) in
                    item.text = try TaskItem.checked(EscapedText.unescaped(text ?? ""))
                }),
            Field(
                "completed", aliases: ["done", "complete"], form: .boolean,
                get: { $0.isComplete ? "true" : "false" },
                set: { item, text throws(EditError) in
                    item.isComplete = try ValueText.boolean(text ?? "false")
                }),
            Field(
                "uuid", aliases: ["id"], isFixed: true, get: { $0.id.description },
                set: { _, _ throws(EditError) in
                    throw EditError(.data, "an item keeps its uuid as long as it is there")
                }),
        ]
    }

    /// A text that items can have; an error without a place where it is blank, of several lines or
    /// too long.
    static func checked(_ text: String) throws(EditError) -> String {
        guard !text.allSatisfy(\.isWhitespace) else {
            throw EditError(.data, "an empty text; an item says what is to be done")
        }
        guard TaskList.isOneLine(text) else {
            throw EditError(
                .data, "a line break; an item is one line, and 'list paste' makes one of each line")
        }
        guard text.utf8.count <= Limits.itemTextBytes else {
            throw EditError(.outOfRange, "more than \(Limits.itemTextBytes) bytes")
        }
        return text
    }
}

extension ListColor {
    /// The colour of a name or number.
    static func named(_ text: String?) throws(EditError) -> ListColor {
        guard let text else { return .gray }
        if let color = ListColor(name: text) ?? Int(text).flatMap({ ListColor(rawValue: $0) }) {
            return color
        }
        let names = ListColor.allCases.map(\.name)
        throw EditError(.data, NearNames.unknown("color of lists", text, among: names))
    }
}
