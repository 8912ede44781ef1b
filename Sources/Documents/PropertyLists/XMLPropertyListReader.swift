/// Reads XML property lists: the small part of XML they use, its text in UTF-8, and nothing that
/// could be made to grow (no entities but the five of XML and single characters by number, no declarations
/// inside a document type).
struct XMLPropertyListReader {
    private var scanner: XMLScanner

    init(_ bytes: [UInt8]) { scanner = XMLScanner(bytes) }

    mutating func document() throws(DocumentError) -> PropertyList {
        try scanner.skipProlog()
        let root = try scanner.tag()
        guard root.name == "plist", !root.isEnd, !root.isEmpty else {
            throw DocumentError(.otherFormat, at: .byte(root.start), "not a property list")
        }
        let value = try value(of: try scanner.tag(), depth: 0)
        let end = try scanner.tag()
        guard end.isEnd, end.name == "plist" else {
            throw scanner.error(at: end.start, "</plist> is expected after the one value")
        }
        try scanner.finish()
        return value
    }

    private mutating func value(
        of tag: XMLScanner.Tag, depth: Int
    ) throws(DocumentError) -> PropertyList {
        guard !tag.isEnd else {
            throw scanner.error(at: tag.start, "</\(tag.name)> where a value is expected")
        }
        switch tag.name {
        case "dict", "array":
            guard depth < Limits.propertyListDepth else {
                throw DocumentError(
                    .tooLarge, at: .byte(tag.start),
                    "more than \(Limits.propertyListDepth) levels")
            }
            return tag.name == "array"
                ? .array(try elements(of: tag, depth: depth))
                : try dictionary(of: tag, depth: depth)
        case "true", "false":
            guard try scanner.text(of: tag).utf8.allSatisfy(\.isBlank) else {
                throw scanner.error(at: tag.start, "<\(tag.name)> holds nothing")
            }
            return .boolean(tag.name == "true")
        case "string": return .string(try scanner.text(of: tag))
        case "integer", "real", "date", "data":
            let text = try scanner.text(of: tag)
            guard let value = XMLScalar.value(of: text, type: tag.name) else {
                throw scanner.error(at: tag.start, "not a valid <\(tag.name)>")
            }
            return value
        default:
            throw scanner.error(at: tag.start, "<\(tag.name)> is not part of property lists")
        }
    }

    private mutating func elements(
        of tag: XMLScanner.Tag, depth: Int
    ) throws(DocumentError) -> [PropertyList] {
        var elements: [PropertyList] = []
        if tag.isEmpty { return elements }
        while true {
            let next = try scanner.tag()
            if next.isEnd, next.name == tag.name { return elements }
            elements.append(try value(of: next, depth: depth + 1))
        }
    }

    private mutating func dictionary(
        of tag: XMLScanner.Tag, depth: Int
    ) throws(DocumentError) -> PropertyList {
        var entries: [PropertyList.Entry] = []
        var keys: Set<Exact<String>> = []
        while !tag.isEmpty {
            let next = try scanner.tag()
            if next.isEnd, next.name == tag.name { break }
            guard next.name == "key", !next.isEnd else {
                throw scanner.error(at: next.start, "<key> is expected in a <dict>")
            }
            let key = try scanner.text(of: next)
            guard keys.insert(Exact(wrappedValue: key)).inserted else {
                throw scanner.error(at: next.start, "the key '\(key.prefix(64))' twice")
            }
            let value = try value(of: try scanner.tag(), depth: depth + 1)
            entries.append(PropertyList.Entry(key, value))
        }
        // How XML writes the references of keyed archives, which it has no element for.
        if entries.count == 1, entries[0].key == "CF$UID",
            case .integer(let uid) = entries[0].value, (0...Int64(UInt32.max)).contains(uid)
        {
            return .uid(Int(uid))
        }
        return .dictionary(entries)
    }
}
