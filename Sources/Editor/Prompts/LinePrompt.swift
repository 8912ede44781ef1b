internal import Documents

/// A line that is being typed.
package struct LinePrompt: Hashable, Sendable {
    /// What is done with the line when it is complete.
    package enum Purpose: Hashable, Sendable {
        /// Edits, or an order to the editor.
        case command
        /// The colour of the selected parts.
        case color
        /// The text of a new item.
        case newItem
        /// The new text of a part.
        case text(PartReference)
        /// The name of a new group of the selected parts.
        case group
    }

    /// The most characters of a line: as many as an item of a list can have.
    package static let limit = Limits.itemTextBytes

    package let purpose: Purpose
    /// What stands before the line.
    package let label: String
    package private(set) var characters: [Character]
    /// Before which character the cursor is.
    package private(set) var cursor: Int
    /// The earlier line that is shown, counted from the newest; nil for none.
    private var recalled: Int?

    package init(_ purpose: Purpose, label: String, text: String = "") {
        self.purpose = purpose
        self.label = label
        characters = Array(text)
        cursor = characters.count
    }

    package var text: String { String(characters) }

    package mutating func replace(with text: String) {
        characters = Array(text)
        cursor = characters.count
    }

    /// Puts a text where the cursor is, all of it or, if the line would be too long, nothing; tells
    /// which.
    package mutating func insert(_ text: some Collection<Character>) -> Bool {
        guard text.count <= LinePrompt.limit - characters.count else { return false }
        let new = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
        characters.insert(contentsOf: new, at: cursor)
        cursor += new.count
        return true
    }

    package mutating func move(by distance: Int) {
        cursor = min(max(cursor + distance, 0), characters.count)
    }

    package mutating func moveToStart() { cursor = 0 }
    package mutating func moveToEnd() { cursor = characters.count }

    package mutating func deleteBackward() {
        guard cursor > 0 else { return }
        cursor -= 1
        characters.remove(at: cursor)
    }

    package mutating func deleteForward() {
        if cursor < characters.count { characters.remove(at: cursor) }
    }

    package mutating func deleteToStart() {
        characters.removeFirst(cursor)
        cursor = 0
    }

    package mutating func deleteToEnd() { characters.removeLast(characters.count - cursor) }

    package mutating func deleteWord() {
        var start = cursor
        while start > 0, characters[start - 1] == " " { start -= 1 }
        while start > 0, characters[start - 1] != " " { start -= 1 }
        characters.removeSubrange(start..<cursor)
        cursor = start
    }

    /// Goes through earlier lines, the newest last: -1 to an older one, 1 to a newer one.
    package mutating func recall(_ direction: Int, from lines: [String]) {
        let next = (recalled ?? -1) - direction
        guard next < lines.count else { return }
        recalled = next < 0 ? nil : next
        replace(with: next < 0 ? "" : lines[lines.count - 1 - next])
    }

    /// The word before the cursor, and where it begins.
    var word: (text: String, start: Int) {
        var start = cursor
        while start > 0, characters[start - 1] != " " { start -= 1 }
        return (String(characters[start..<cursor]), start)
    }

    /// Completes the word before the cursor as far as all candidates agree; says whether it is
    /// complete now.
    mutating func complete(_ candidates: [String]) -> Bool {
        let (word, start) = word
        let found = candidates.filter { $0.hasPrefix(word) }
        guard let first = found.first else { return false }
        let common = found.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        characters.replaceSubrange(start..<cursor, with: common)
        cursor = start + common.count
        return found.count == 1
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}
