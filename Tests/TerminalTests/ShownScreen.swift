import Terminal

/// A terminal that understands what ``Screen/update(from:)`` sends, and nothing else.
struct ShownScreen {
    /// What a terminal takes a character of several scalars for.
    enum Joining: CaseIterable {
        /// For one, of as many cells as we say.
        case joined
        /// For several beside each other.
        case apart
        /// For several, each of one cell.
        case narrow
    }

    let columns: Int
    private let joining: Joining
    var characters: [Character?]
    var styles: [String]
    private var column = 0
    private var row = 0
    private var style = ""
    private(set) var isCursorShown = true
    private(set) var unknown: [String] = []

    init(columns: Int, rows: Int, _ joining: Joining = .joined) {
        self.columns = columns
        self.joining = joining
        characters = [Character?](repeating: " ", count: columns * rows)
        styles = [String](repeating: "", count: columns * rows)
    }

    var cursor: (Int, Int)? { isCursorShown ? (column, row) : nil }

    mutating func take(_ bytes: [UInt8]) {
        var rest = Substring(String(decoding: bytes, as: UTF8.self))
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                put(character)
                continue
            }
            let end = rest.dropFirst().firstIndex { $0.isLetter } ?? rest.startIndex
            let sequence = String(rest[...end])
            rest = rest[rest.index(after: end)...]
            obey(sequence)
        }
    }

    private mutating func put(_ character: Character) {
        guard joining != .joined, character.unicodeScalars.count > 1 else {
            return put(character, cells: character.cells)
        }
        for scalar in character.unicodeScalars {
            let cells = Character(scalar).cells
            if cells > 0 { put(Character(scalar), cells: joining == .narrow ? 1 : cells) }
        }
    }

    /// Puts a character in; at the end of the line over the last one, as lines do not go on.
    private mutating func put(_ character: Character, cells: Int) {
        column = min(column, columns - cells)
        let place = row * columns + column
        // Half of a wide character cannot stay.
        if characters[place] == nil { characters[place - 1] = " " }
        let end = place + cells
        if column + cells < columns, characters[end] == nil { characters[end] = " " }
        characters[place] = character
        styles[place] = style
        if cells == 2 { characters[place + 1] = nil }
        column += cells
    }

    private mutating func obey(_ sequence: String) {
        let numbers = sequence.dropFirst().dropLast().split(separator: ";").compactMap { Int($0) }
        switch sequence.last {
        case "H": (row, column) = (numbers[0] - 1, numbers[1] - 1)
        case "J": characters = characters.map { _ in " " }
        case "m":
            let codes = sequence.dropFirst().dropLast()
            if codes == "0" { style = "" } else { style = String(codes) }
        case "h": isCursorShown = true
        case "l": isCursorShown = false
        default: unknown.append(sequence)
        }
    }
}
