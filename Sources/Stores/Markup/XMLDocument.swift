/// One element of a small XML document, with its namespaces resolved.
struct XMLElement {
    /// The namespace's URI; empty for none.
    var namespace: String
    /// The name without its prefix.
    var name: String
    /// All characters directly inside, blanks at both ends taken away.
    var text: String
    var children: [XMLElement]
    /// The text with its blanks, where some were taken away.
    var blankedText: String?

    /// The children of this name, in whatever namespace.
    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// The first child of this name.
    func first(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of the element that a path of names leads to.
    func text(_ path: String...) -> String? {
        var element: XMLElement? = self
        for name in path { element = element?.first(name) }
        return element?.text
    }
}

/// What a start tag says.
struct XMLStartTag {
    /// Without what is in it.
    var element: XMLElement
    /// With its prefix.
    var name: String
    /// URIs by prefix, as they hold inside.
    var namespaces: [String: String]
    /// There is no end tag.
    var isEmpty: Bool
}

/// Reads what servers answer. Knows elements, attributes (only for namespaces), text, CDATA, comments,
/// the five named entities and characters by number. A document type, which could define entities that
/// grow without end, is refused; so is what is nested too deeply, has too many elements (a page of a
/// listing has some ten for each of a thousand things) or too many namespaces at one place, all of which
/// are copied for each element that declares a further one.
struct XMLDocument {
    private static let depthLimit = 32
    private static let elementLimit = 100_000
    private static let namespaceLimit = 100

    private let bytes: [UInt8]
    private var position = 0
    private var elements = 0

    private struct Problem: Error {}

    /// The root element; `nil` if the bytes are no such document.
    static func root(of bytes: [UInt8]) -> XMLElement? {
        var document = XMLDocument(bytes: bytes)
        return try? document.readRoot()
    }

    /// The element that the bytes are, inside of one with these namespaces; `nil` if they are none.
    static func element(of bytes: [UInt8], namespaces: [String: String]) -> XMLElement? {
        var document = XMLDocument(bytes: bytes)
        guard let element = try? document.readElement(namespaces: namespaces, depth: 1),
            document.position == bytes.count
        else { return nil }
        return element
    }

    /// What the bytes of a root's start tag say; `nil` if they are none.
    static func startTag(of bytes: [UInt8]) -> XMLStartTag? {
        var document = XMLDocument(bytes: bytes)
        return try? document.readStartTag(namespaces: outermost)
    }

    private static let outermost = ["xml": "xml"]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func readRoot() throws(Problem) -> XMLElement {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        try skipBetween()
        let root = try readElement(namespaces: Self.outermost, depth: 0)
        try skipBetween()
        guard position == bytes.count else { throw Problem() }
        return root
    }

    // MARK: Characters

    private func isNext(_ text: StaticString) -> Bool {
        guard bytes.count - position >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount
        where bytes[position + index] != text.utf8Start[index] { return false }
        return true
    }

    private mutating func skip(past text: StaticString) throws(Problem) {
        while position < bytes.count {
            if isNext(text) {
                position += text.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw Problem()
    }

    private func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    private mutating func skipBlanks() {
        while position < bytes.count, isBlank(bytes[position]) { position += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(Problem) {
        guard position < bytes.count, bytes[position] == byte else { throw Problem() }
        position += 1
    }

    /// Passes over blanks, comments and processing instructions outside the root.
    private mutating func skipBetween() throws(Problem) {
        while true {
            skipBlanks()
            if isNext("<?") {
                try skip(past: "?>")
            } else if isNext("<!--") {
                try skip(past: "-->")
            } else {
                return
            }
        }
    }

    private mutating func readName() throws(Problem) -> String {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x3a, 0x5f, 0x80...0xff:
                position += 1
                continue
            default: break
            }
            break
        }
        guard position > start else { throw Problem() }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Characters up to `end`, entities replaced.
    private mutating func readText(until end: UInt8, into text: inout [UInt8]) throws(Problem) {
        while position < bytes.count, bytes[position] != end {
            let byte = bytes[position]
            position += 1
            guard byte == 0x26 else {
                text.append(byte)
                continue
            }
            let tail = bytes[position..<min(position + 12, bytes.count)]
            guard let semicolon = tail.firstIndex(of: 0x3b) else { throw Problem() }
            text += try entity(String(decoding: bytes[position..<semicolon], as: UTF8.self))
            position = semicolon + 1
        }
    }

    private func entity(_ name: String) throws(Problem) -> [UInt8] {
        switch name {
        case "amp": return [0x26]
        case "lt": return [0x3c]
        case "gt": return [0x3e]
        case "quot": return [0x22]
        case "apos": return [0x27]
        default: break
        }
        guard name.hasPrefix("#") else { throw Problem() }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let number, let scalar = Unicode.Scalar(number) else { throw Problem() }
        return Array(String(scalar).utf8)
    }

    // MARK: Elements

    private mutating func readElement(namespaces outer: [String: String], depth: Int)
        throws(Problem) -> XMLElement
    {
        elements += 1
        guard depth < Self.depthLimit, elements <= Self.elementLimit else { throw Problem() }
        let tag = try readStartTag(namespaces: outer)
        var element = tag.element
        if !tag.isEmpty { try readContent(of: &element, tag.name, tag.namespaces, depth) }
        return element
    }

    private mutating func readStartTag(namespaces outer: [String: String]) throws(Problem)
        -> XMLStartTag
    {
        try expect(0x3c)
        let name = try readName()
        var namespaces = outer
        var isEmpty = false
        while true {
            skipBlanks()
            if isNext("/>") {
                position += 2
                isEmpty = true
                break
            }
            if isNext(">") {
                position += 1
                break
            }
            let attribute = try readName()
            skipBlanks()
            try expect(0x3d)
            skipBlanks()
            guard position < bytes.count, bytes[position] == 0x22 || bytes[position] == 0x27 else {
                throw Problem()
            }
            let quote = bytes[position]
            position += 1
            var value: [UInt8] = []
            try readText(until: quote, into: &value)
            try expect(quote)
            if attribute == "xmlns" {
                namespaces[""] = String(decoding: value, as: UTF8.self)
            } else if attribute.hasPrefix("xmlns:") {
                namespaces[String(attribute.dropFirst(6))] = String(decoding: value, as: UTF8.self)
            }
            guard namespaces.count <= Self.namespaceLimit else { throw Problem() }
        }
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        let prefix = parts.count == 2 ? parts[0] : ""
        guard let local = parts.last, prefix.isEmpty || namespaces[prefix] != nil else {
            throw Problem()
        }
        let element = XMLElement(
            namespace: namespaces[prefix] ?? "", name: local, text: "", children: [])
        return XMLStartTag(
            element: element, name: name, namespaces: namespaces, isEmpty: isEmpty)
    }

    private mutating func readContent(
        of element: inout XMLElement, _ name: String, _ namespaces: [String: String], _ depth: Int
    ) throws(Problem) {
        var text: [UInt8] = []
        while true {
            try readText(until: 0x3c, into: &text)
            if isNext("</") {
                position += 2
                guard try readName() == name else { throw Problem() }
                skipBlanks()
                try expect(0x3e)
                break
            } else if isNext("<!--") {
                try skip(past: "-->")
            } else if isNext("<![CDATA[") {
                let start = position + 9
                try skip(past: "]]>")
                text += bytes[start..<position - 3]
            } else if isNext("<?") {
                try skip(past: "?>")
            } else if isNext("<!") || position >= bytes.count {
                throw Problem()
            } else {
                element.children.append(try readElement(namespaces: namespaces, depth: depth + 1))
            }
        }
        let core = text.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        element.text = String(decoding: core, as: UTF8.self)
        if element.text.utf8.count < text.count {
            element.blankedText = String(decoding: text, as: UTF8.self)
        }
    }
}
