extension JSONValue {
    /// Reads a JSON document strictly (RFC 8259, keys of an object unique).
    public static func read(_ bytes: [UInt8]) throws(DocumentError) -> JSONValue {
        var reader = JSONReader(bytes, isTolerant: false)
        return try reader.document()
    }

    /// Reads a JSON document as people write them by hand: what is clear is repaired. The repairs
    /// are in the order of the document, at most `Limits.listedRepairs` of them.
    public static func readTolerantly(
        _ bytes: [UInt8]
    ) throws(DocumentError) -> (value: JSONValue, repairs: [JSONRepair]) {
        var reader = JSONReader(bytes, isTolerant: true)
        let value = try reader.document()
        return (value, reader.listedRepairs())
    }
}

/// A recursive descent through the bytes of a JSON document. Depth and number of values are
/// bounded, so neither the stack nor the memory runs out.
struct JSONReader {
    let bytes: [UInt8]
    var offset = 0
    private let isTolerant: Bool
    private var depth = 0
    private var values = 0
    private var repairs: [(kind: JSONRepair.Kind, offset: Int)] = []

    init(_ bytes: [UInt8], isTolerant: Bool) {
        self.bytes = bytes
        self.isTolerant = isTolerant
    }

    mutating func document() throws(DocumentError) -> JSONValue {
        guard bytes.count <= Limits.jsonBytes else {
            throw DocumentError(
                .tooLarge, "\(bytes.count) bytes, of which at most \(Limits.jsonBytes) are read")
        }
        if bytes.isUTF16 { throw DocumentError(.malformed, [UInt8].utf16Complaint) }
        if bytes.hasByteOrderMark {
            try repair(.byteOrderMark, at: 0)
            offset = 3
        }
        try skipBlanks()
        let result = try value()
        try skipBlanks()
        guard offset == bytes.count else {
            throw error(.malformed, at: offset, "something follows the end of the document")
        }
        return result
    }

    /// The repairs by line and column.
    func listedRepairs() -> [JSONRepair] {
        var counter = LineCounter(bytes)
        return repairs.sorted { $0.offset < $1.offset }.map { repair in
            let place = counter.place(of: repair.offset)
            return JSONRepair(kind: repair.kind, line: place.line, column: place.column)
        }
    }

    /// Notes a repair, or throws where nothing may be repaired.
    mutating func repair(_ kind: JSONRepair.Kind, at place: Int) throws(DocumentError) {
        guard isTolerant else { throw error(.malformed, at: place, kind.complaint) }
        if repairs.count < Limits.listedRepairs { repairs.append((kind, place)) }
    }

    func error(_ kind: DocumentError.Kind, at place: Int, _ reason: String) -> DocumentError {
        var counter = LineCounter(bytes)
        let (line, column) = counter.place(of: place)
        return DocumentError(kind, at: .line(line, column: column), reason)
    }

    /// The byte at the offset; 0, which begins nothing, at the end.
    var next: UInt8 { offset < bytes.count ? bytes[offset] : 0 }
}

// Values.
extension JSONReader {
    private mutating func value() throws(DocumentError) -> JSONValue {
        values += 1
        guard values <= Limits.jsonValues else {
            throw error(
                .tooLarge, at: offset,
                "more than \(Limits.jsonValues) values, the most that a document may have"
            )
        }
        switch next {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default:
            let isAtEnd = offset >= bytes.count
            throw error(
                .malformed, at: offset,
                isAtEnd ? "the document ends in the middle" : "a value is expected here")
        }
    }

    private mutating func word(
        _ word: StaticString, _ value: JSONValue
    ) throws(DocumentError) -> JSONValue {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count, "\(word)".utf8.elementsEqual(bytes[offset..<end]) else {
            throw error(.malformed, at: offset, "a value is expected here")
        }
        offset = end
        return value
    }

    private mutating func array() throws(DocumentError) -> [JSONValue] {
        try descend()
        var elements: [JSONValue] = []
        while try !closes(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(try value())
        }
        depth -= 1
        return elements
    }

    private mutating func object() throws(DocumentError) -> JSONObject {
        try descend()
        var members = JSONMembers()
        while try !closes(UInt8(ascii: "}"), isFirst: members.isEmpty) {
            let start = offset
            guard next == UInt8(ascii: "\"") else {
                throw error(.malformed, at: start, "a key in quotation marks is expected here")
            }
            let key = try string()
            try skipBlanks()
            guard next == UInt8(ascii: ":") else {
                throw error(.malformed, at: offset, "a colon is expected after a key")
            }
            offset += 1
            try skipBlanks()
            if !members.append(key, try value()) { try repair(.duplicateKey, at: start) }
        }
        depth -= 1
        return members.object
    }

    private mutating func descend() throws(DocumentError) {
        depth += 1
        guard depth <= Limits.jsonDepth else {
            throw error(.tooLarge, at: offset, "more than \(Limits.jsonDepth) levels")
        }
        offset += 1
    }

    /// Goes to the next element or over the closing bracket, and tells which of the two.
    private mutating func closes(_ bracket: UInt8, isFirst: Bool) throws(DocumentError) -> Bool {
        try skipBlanks()
        if next == UInt8(ascii: ","), !isFirst {
            let comma = offset
            offset += 1
            try skipBlanks()
            if next == bracket { try repair(.trailingComma, at: comma) }
        } else if next != bracket, !isFirst {
            guard offset < bytes.count else {
                throw error(.malformed, at: offset, "the document ends in the middle")
            }
            // What is no value either fails just after this, so the repair says nothing untrue.
            try repair(.missingComma, at: offset)
        }
        guard next == bracket else { return false }
        offset += 1
        return true
    }

    /// Goes over blanks and comments.
    private mutating func skipBlanks() throws(DocumentError) {
        while true {
            while [0x20, 0x0a, 0x0d, 0x09].contains(next) { offset += 1 }
            guard next == UInt8(ascii: "/"), offset + 1 < bytes.count else { return }
            let start = offset
            switch bytes[offset + 1] {
            case UInt8(ascii: "/"):
                offset += 2
                while offset < bytes.count, ![0x0a, 0x0d].contains(bytes[offset]) { offset += 1 }
            case UInt8(ascii: "*"):
                offset += 2
                while !(next == UInt8(ascii: "*") && offset + 1 < bytes.count
                    && bytes[offset + 1] == UInt8(ascii: "/"))
                {
                    offset += 1
                    guard offset < bytes.count else {
                        throw error(.malformed, at: start, "a comment without an end")
                    }
                }
                offset += 2
            default: return
            }
            try repair(.comment, at: start)
        }
    }
}

/// Gathers the members of an object, of each key the last. Finding a key again takes a pass over
/// the members while they are few, and a table beyond that.
private struct JSONMembers {
    private var members: [JSONObject.Member] = []
    private var table: [Exact<String>: Int] = [:]

    var isEmpty: Bool { members.isEmpty }
    var object: JSONObject { JSONObject(uniqueMembers: members) }

    /// Appends a member, or replaces the value of its key and returns false.
    mutating func append(_ key: String, _ value: JSONValue) -> Bool {
        let tabulatedFrom = 16
        if members.count == tabulatedFrom {
            for (index, member) in members.enumerated() {
                table[Exact(wrappedValue: member.key)] = index
            }
        }
        let index =
            members.count < tabulatedFrom
            ? members.firstIndex { $0.key.isExactly(key) } : table[Exact(wrappedValue: key)]
        if let index {
            members[index].value = value
            return false
        }
        if members.count >= tabulatedFrom { table[Exact(wrappedValue: key)] = members.count }
        members.append(JSONObject.Member(key, value))
        return true
    }
}
