extension JSONValue {
    /// Reads a JSON document strictly (RFC 8259, keys of an object unique).
    public static func read(_ bytes: [UInt8]) throws(DocumentError) -> JSONValue {
        var reader = JSONReader(bytes, isTolerant: false)
        return try reader.document()
    }

    /// Reads a JSON document as people write them by hand: what is clear is repaired, and it may be in
    /// UTF-16 or UTF-32. The repairs are in the order of the document, at most `Limits.listedRepairs` of
    /// them.
    public static func readTolerantly(
        _ bytes: [UInt8]
    ) throws(DocumentError) -> (value: JSONValue, repairs: [JSONRepair]) {
        try read(bytes, isTolerant: true)
    }

    /// Reads a JSON document in any encoding.
    ///
    /// - Parameters:
    ///   - isTolerant: whether more is repaired than that and a byte order mark.
    ///   - limit: the bytes of memory that all of it may take.
    static func read(
        _ file: [UInt8], isTolerant: Bool, atMost limit: Int = Limits.jsonMemory
    ) throws(DocumentError) -> (value: JSONValue, repairs: [JSONRepair]) {
        let text = try JSONText.utf8(file)
        let isOther = JSONText.encoding(of: file) != .utf8
        let memory = JSONMemory(text: text.count + (isOther ? file.count : 0), atMost: limit)
        var reader = JSONReader(text, isTolerant: isTolerant, memory)
        if isOther { reader.note(.otherEncoding, at: 0) }
        let value = try reader.document(mayHaveMark: true)
        return (value, reader.listedRepairs())
    }
}

/// A recursive descent through the bytes of a JSON document. Depth, number of values and memory are
/// bounded, so neither the stack nor the memory runs out.
struct JSONReader {
    let bytes: [UInt8]
    var offset = 0
    private let isTolerant: Bool
    private var depth = 0
    private var memory: JSONMemory
    private var repairs: [(kind: JSONRepair.Kind, offset: Int)] = []

    /// - Parameter memory: what is taken already, if that is not the text alone.
    init(_ bytes: [UInt8], isTolerant: Bool, _ memory: JSONMemory? = nil) {
        self.bytes = bytes
        self.isTolerant = isTolerant
        self.memory = memory ?? JSONMemory(text: bytes.count)
    }

    mutating func document(mayHaveMark: Bool = false) throws(DocumentError) -> JSONValue {
        try JSONText.check(bytes.count)
        if bytes.hasByteOrderMark {
            if mayHaveMark {
                note(.byteOrderMark, at: 0)
            } else {
                try repair(.byteOrderMark, at: 0)
            }
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
        note(kind, at: place)
    }

    /// Notes what was repaired.
    mutating func note(_ kind: JSONRepair.Kind, at place: Int) {
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
        try count { (memory) throws(DocumentError) in try memory.addValue() }
        switch next {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""):
            let text = try string()
            try count { (memory) throws(DocumentError) in try memory.add(text) }
            return .string(text)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let number = try number()
            try count { (memory) throws(DocumentError) in try memory.add(number.text) }
            return .number(number)
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
            try count { (memory) throws(DocumentError) in try memory.addElement() }
            elements.append(try value())
        }
        depth -= 1
        elements.trim()
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
            try count { (memory) throws(DocumentError) in try memory.addMember(key) }
            try skipBlanks()
            guard next == UInt8(ascii: ":") else {
                throw error(.malformed, at: offset, "a colon is expected after a key")
            }
            offset += 1
            try skipBlanks()
            if !members.append(key, try value()) { try repair(.duplicateKey, at: start) }
        }
        depth -= 1
        return members.object()
    }

    private mutating func descend() throws(DocumentError) {
        depth += 1
        guard depth <= Limits.jsonDepth else {
            throw error(.tooLarge, at: offset, "more than \(Limits.jsonDepth) levels")
        }
        try count { (memory) throws(DocumentError) in try memory.addContainer() }
        offset += 1
    }

    /// Counts what has been read; an error says where it became too much.
    @inline(__always)
    private mutating func count(
        _ add: (inout JSONMemory) throws(DocumentError) -> Void
    ) throws(DocumentError) {
        do throws(DocumentError) { try add(&memory) } catch {
            throw self.error(error.kind, at: offset, error.reason)
        }
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
