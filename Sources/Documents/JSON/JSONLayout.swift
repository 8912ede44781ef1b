/// Finds where the parts of a strict JSON text are. The text must have been read before.
struct JSONLayout {
    /// Where an entry of an object or array is.
    struct Piece {
        /// The blanks before it, after the bracket or comma.
        var blanksStart: Int
        /// Its key, or its value in an array.
        var start: Int
        var valueStart: Int
        var valueEnd: Int
        /// The comma after it; the end of the value if there is none.
        var end: Int
    }

    /// The entries of an object or array.
    struct Pieces {
        var entries: [Piece] = []
        /// The blanks before the closing bracket.
        var tailStart = 0
        var close = 0
    }

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How the text is laid out, judged by its first entry.
    var style: JSONStyle {
        var layout = self
        let start = layout.skipBlanks()
        let isObject = bytes[start] == UInt8(ascii: "{")
        guard isObject || bytes[start] == UInt8(ascii: "["),
            let first = layout.pieces(at: start).entries.first
        else { return JSONStyle() }
        let blanks = bytes[first.blanksStart..<first.start]
        var style = JSONStyle()
        style.indentation = blanks.lastIndex(of: UInt8(ascii: "\n")).map {
            Array(blanks[($0 + 1)...])
        }
        if isObject {
            layout.offset = first.start
            layout.skipString()
            style.colon = Array(bytes[layout.offset..<first.valueStart])
        }
        return style
    }

    /// Goes over blanks and returns where they end.
    @discardableResult mutating func skipBlanks() -> Int {
        while offset < bytes.count, bytes[offset].isBlank { offset += 1 }
        return offset
    }

    /// Where the value that begins at `start` ends.
    mutating func skipValue(at start: Int) -> Int {
        offset = start
        var depth = 0
        repeat {
            switch bytes[offset] {
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                offset += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                offset += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): offset += 1
            case let byte where byte.isBlank: offset += 1
            default: while offset < bytes.count, !endsWord(bytes[offset]) { offset += 1 }
            }
        } while depth > 0
        return offset
    }

    /// Where the entries of the object or array that begins at `start` are.
    mutating func pieces(at start: Int) -> Pieces {
        let isObject = bytes[start] == UInt8(ascii: "{")
        var pieces = Pieces()
        offset = start + 1
        while true {
            let blanksStart = offset
            skipBlanks()
            if bytes[offset] == UInt8(ascii: "}") || bytes[offset] == UInt8(ascii: "]") {
                // Only an empty one closes here.
                pieces.tailStart = blanksStart
                break
            }
            var piece = Piece(
                blanksStart: blanksStart, start: offset, valueStart: offset, valueEnd: offset,
                end: offset)
            if isObject {
                skipString()
                skipBlanks()
                offset += 1
                piece.valueStart = skipBlanks()
            }
            piece.valueEnd = skipValue(at: piece.valueStart)
            pieces.tailStart = piece.valueEnd
            skipBlanks()
            let isLast = bytes[offset] != UInt8(ascii: ",")
            piece.end = isLast ? piece.valueEnd : offset
            pieces.entries.append(piece)
            if isLast { break }
            offset += 1
        }
        pieces.close = offset
        return pieces
    }

    private mutating func skipString() {
        offset += 1
        while bytes[offset] != UInt8(ascii: "\"") {
            offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        offset += 1
    }

    private func endsWord(_ byte: UInt8) -> Bool {
        byte.isBlank || [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte)
    }
}
