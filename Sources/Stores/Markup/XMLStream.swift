/// Reads a document while it comes: hands out what is directly in its root, element by element, and
/// keeps no more of it than one of them. Understands what ``XMLDocument`` does.
struct XMLStream {
    /// The bytes are no such document.
    struct Problem: Error {}

    /// Bytes of one element, or of what stands between two.
    private static let limit = 1 << 20

    /// What has come and is not done with.
    private var bytes: [UInt8] = []
    /// Markup up to here has been looked at.
    private var position = 0
    /// Where the element begins that is being read; what is before it is not needed.
    private var start = 0
    /// How many elements are open.
    private var depth = 0
    private var root: XMLStartTag?

    /// The root without what is in it; `nil` before it has come.
    var rootElement: XMLElement? { root?.element }
    /// The root's end tag has come.
    private(set) var isComplete = false

    private enum Markup {
        case startTag(isEmpty: Bool)
        case endTag
        /// A comment, an instruction or characters as they are.
        case other
    }

    /// Takes the next bytes; the elements that have become whole with them.
    mutating func take(_ more: UnsafeRawBufferPointer) throws(Problem) -> [XMLElement] {
        bytes += more
        var found: [XMLElement] = []
        while let begin = bytes[position...].firstIndex(of: 0x3c) {
            if depth <= 1 { start = begin }
            position = begin
            guard let (markup, end) = try markup(at: begin) else { break }
            position = end
            switch markup {
            case .other: continue
            case .startTag(let isEmpty):
                if isComplete { throw Problem() }
                if depth == 0 {
                    root = XMLDocument.startTag(of: Array(bytes[begin..<end]))
                    if root == nil { throw Problem() }
                }
                if !isEmpty { depth += 1 }
                if depth == 1, isEmpty { found.append(try element(begin..<end)) }
                if depth == 0 { isComplete = true }
            case .endTag:
                depth -= 1
                if depth < 0 { throw Problem() }
                if depth == 1 { found.append(try element(start..<end)) }
                if depth == 0 { isComplete = true }
            }
        }
        let isBetween = depth <= 1
        if isBetween, !bytes[position...].contains(0x3c) { position = bytes.count }
        let done = isBetween ? position : start
        bytes.removeFirst(done)
        position -= done
        start = 0
        if bytes.count > Self.limit { throw Problem() }
        return found
    }

    private func element(_ range: Range<Int>) throws(Problem) -> XMLElement {
        guard let root,
            let element = XMLDocument.element(
                of: Array(bytes[range]), namespaces: root.namespaces)
        else { throw Problem() }
        return element
    }

    /// What begins at a `<`, and where it ends; `nil` if not all of it has come.
    private func markup(at begin: Int) throws(Problem) -> (Markup, Int)? {
        // Enough to tell them apart.
        guard bytes.count - begin >= 9 || bytes[begin...].contains(0x3e) else { return nil }
        if starts("<!--", begin) { return end(of: "-->", begin + 4).map { (.other, $0) } }
        if starts("<![CDATA[", begin) { return end(of: "]]>", begin + 9).map { (.other, $0) } }
        if starts("<?", begin) { return end(of: "?>", begin + 2).map { (.other, $0) } }
        if starts("<!", begin) { throw Problem() }
        if starts("</", begin) { return end(of: ">", begin + 2).map { (.endTag, $0) } }
        var quote: UInt8?
        for index in begin + 1..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            } else if byte == 0x3e {
                return (.startTag(isEmpty: bytes[index - 1] == 0x2f), index + 1)
            }
        }
        return nil
    }

    private func starts(_ text: StaticString, _ place: Int) -> Bool {
        bytes.count - place >= text.utf8CodeUnitCount
            && (0..<text.utf8CodeUnitCount).allSatisfy { bytes[place + $0] == text.utf8Start[$0] }
    }

    /// Behind the next such text.
    private func end(of text: StaticString, _ from: Int) -> Int? {
        var place = from
        while place + text.utf8CodeUnitCount <= bytes.count {
            if starts(text, place) { return place + text.utf8CodeUnitCount }
            place += 1
        }
        return nil
    }
}
