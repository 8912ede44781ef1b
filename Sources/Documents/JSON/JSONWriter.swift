extension JSONValue {
    /// The strict JSON of a document, ending in a line end.
    ///
    /// With the bytes the document was read from, everything that did not change is written as it
    /// stands there, blanks included; without them, or where they are not strict JSON, two blanks
    /// a level.
    public func text(replacing original: [UInt8]? = nil) -> [UInt8] {
        if let original, let rewriter = JSONRewriter(original) {
            return rewriter.rewritten(as: self)
        }
        return written(in: JSONStyle()) + [UInt8(ascii: "\n")]
    }

    /// Strict JSON in one line, without a line end.
    public var line: [UInt8] { written(in: JSONStyle(indentation: nil)) }

    /// Strict JSON without any blanks.
    var shortest: [UInt8] { written(in: JSONStyle(indentation: nil, colon: [UInt8(ascii: ":")])) }

    private func written(in style: JSONStyle) -> [UInt8] {
        var writer = JSONWriter(style: style)
        writer.write(self, indentation: [])
        return writer.output
    }
}

/// How a document is laid out.
struct JSONStyle {
    /// What one level is indented by; nil for everything in one line.
    var indentation: [UInt8]? = Array("  ".utf8)
    /// What is between a key and its value.
    var colon: [UInt8] = Array(": ".utf8)

    /// Whether there are blanks between what stands in one line.
    var isSpaced: Bool { colon.count > 1 }
}

/// Writes values as strict JSON.
struct JSONWriter {
    let style: JSONStyle
    var output: [UInt8] = []

    init(style: JSONStyle) { self.style = style }

    /// Appends a value. `indentation` is that of the line it begins in.
    mutating func write(_ value: JSONValue, indentation: [UInt8]) {
        switch value {
        case .null: output += "null".utf8
        case .boolean(let flag): output += (flag ? "true" : "false").utf8
        case .number(let number): output += number.text.utf8
        case .string(let text): write(text)
        case .array(let elements):
            // Vectors and the like read better in one line.
            let isShort =
                elements.count <= 16
                && elements.allSatisfy { if case .number = $0 { true } else { false } }
            list(elements, "[", "]", indentation: isShort ? nil : indentation) {
                $0.write($1, indentation: $2)
            }
        case .object(let object):
            list(object.members, "{", "}", indentation: indentation) { writer, member, inner in
                writer.write(member.key)
                writer.output += writer.style.colon
                writer.write(member.value, indentation: inner)
            }
        }
    }

    /// Appends bracketed entries, in one line if there is no indentation.
    private mutating func list<Entry>(
        _ entries: [Entry], _ open: Unicode.Scalar, _ close: Unicode.Scalar,
        indentation: [UInt8]?, write: (inout JSONWriter, Entry, [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        let isBroken = style.indentation != nil && indentation != nil
        let inner = (indentation ?? []) + (isBroken ? style.indentation ?? [] : [])
        for (index, entry) in entries.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            if isBroken {
                output.append(UInt8(ascii: "\n"))
                output += inner
            } else if index > 0, style.isSpaced {
                output.append(UInt8(ascii: " "))
            }
            write(&self, entry, inner)
        }
        if isBroken, !entries.isEmpty {
            output.append(UInt8(ascii: "\n"))
            output += indentation ?? []
        }
        output.append(UInt8(ascii: close))
    }

    /// Appends a string with its quotation marks; what need not be escaped is not.
    mutating func write(_ text: String) {
        var text = text
        output.append(UInt8(ascii: "\""))
        text.withUTF8 { bytes in
            var start = bytes.startIndex
            for (index, byte) in bytes.enumerated() {
                if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
                output += bytes[start..<index]
                escape(byte)
                start = index + 1
            }
            output += bytes[start...]
        }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        case 8: output.append(UInt8(ascii: "b"))
        case 9: output.append(UInt8(ascii: "t"))
        case 10: output.append(UInt8(ascii: "n"))
        case 12: output.append(UInt8(ascii: "f"))
        case 13: output.append(UInt8(ascii: "r"))
        default:
            output += "u00".utf8
            output.append(Self.digit(byte >> 4))
            output.append(Self.digit(byte & 15))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
