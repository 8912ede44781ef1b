import Terminal

/// A terminal that understands what ``Screen/update(from:)`` sends, and nothing else.
struct ShownScreen {
    let columns: Int
    var characters: [Character?]
    var styles: [String]
    private var column = 0
    private var row = 0
    private var style = ""
    private(set) var isCursorShown = true
    private(set) var unknown: [String] = []

    init(columns: Int, rows: Int) {
        self.columns = columns
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
        characters[row * columns + column] = character
        styles[row * columns + column] = style
        if character.cells == 2 { characters[row * columns + column + 1] = nil }
        column += character.cells
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
