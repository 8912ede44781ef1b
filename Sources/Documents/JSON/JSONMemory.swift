/// How large documents of JSON may be: how many values they have, and how much memory those take with the
/// text they are read from.
struct JSONMemory {
    private let limit: Int
    private var bytes: Int
    private var values = 0

    /// - Parameters:
    ///   - text: the bytes of the text.
    ///   - limit: the bytes of memory that all may take.
    init(text: Int, atMost limit: Int = Limits.jsonMemory) {
        bytes = text
        self.limit = limit
    }

    /// An array or object, with what the machine adds to it.
    private static let container = 48
    /// Bytes of a text that fit into its place.
    private static let inPlace = 15
    /// What a longer text takes besides its bytes.
    private static let aside = 64

    /// Counts a value; its parts are counted for themselves.
    mutating func addValue() throws(DocumentError) {
        values += 1
        guard values <= Limits.jsonValues else {
            throw DocumentError(
                .tooLarge,
                "more than \(Limits.jsonValues) values, the most that a document may have")
        }
    }

    mutating func addContainer() throws(DocumentError) { try add(Self.container) }
    mutating func addElement() throws(DocumentError) { try add(MemoryLayout<JSONValue>.stride) }

    mutating func addMember(_ key: String) throws(DocumentError) {
        try add(MemoryLayout<JSONObject.Member>.stride)
        try add(key)
    }

    mutating func add(_ text: String) throws(DocumentError) {
        let count = text.utf8.count
        if count > Self.inPlace { try add(count + Self.aside) }
    }

    private mutating func add(_ count: Int) throws(DocumentError) {
        bytes += count
        guard bytes <= limit else {
            throw DocumentError(
                .tooLarge,
                "the document takes more than \(limit >> 20) MiB of memory, the most that one "
                    + "may take: fewer or shorter values are expected")
        }
    }

    /// Counts a value with all its parts.
    mutating func add(_ value: JSONValue) throws(DocumentError) {
        try addValue()
        switch value {
        case .null, .boolean: break
        case .number(let number): try add(number.text)
        case .string(let text): try add(text)
        case .array(let elements):
            try addContainer()
            for element in elements {
                try addElement()
                try add(element)
            }
        case .object(let object):
            try addContainer()
            for member in object.members {
                try addMember(member.key)
                try add(member.value)
            }
        }
    }
}

extension JSONValue {
    /// The bytes of a document of it, laid out as `text(replacing:)` tells; without any layout if they would
    /// not be read again otherwise. An error if they would not be even so.
    func document(replacing original: [UInt8]?) throws(DocumentError) -> [UInt8] {
        let text = text(replacing: original)
        do throws(DocumentError) {
            try check(writtenAs: text)
            return text
        } catch {
            let short = shortest
            try check(writtenAs: short)
            return short
        }
    }

    /// Checks that a document of it would be read again.
    ///
    /// - Parameter text: its bytes.
    private func check(writtenAs text: [UInt8]) throws(DocumentError) {
        guard text.count <= Limits.jsonBytes else {
            throw DocumentError(.tooLarge, "more than \(Limits.jsonBytes) bytes")
        }
        var memory = JSONMemory(text: text.count)
        try memory.add(self)
    }
}
