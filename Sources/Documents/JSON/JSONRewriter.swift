/// Writes a changed document over the text it was read from, so that only what changed differs.
///
/// It walks the old text, the old value and the new value together. Equal parts are copied as they
/// stand; members and elements carry the blanks before them along, also when they move.
struct JSONRewriter {
    private let original: [UInt8]
    private let old: JSONValue
    private let style: JSONStyle

    /// A rewriter of a file; nil if it is not strict JSON, whose layout would mean nothing. A byte
    /// order mark is left out, and another encoding becomes UTF-8.
    init?(_ file: [UInt8]) {
        guard let original = (try? JSONText.utf8(file))?.withoutByteOrderMark,
            let old = try? JSONValue.read(original)
        else { return nil }
        self.original = original
        self.old = old
        style = JSONLayout(original).style
    }

    /// The text of the new value.
    func rewritten(as new: JSONValue) -> [UInt8] {
        if new == old { return original }
        var layout = JSONLayout(original)
        let start = layout.skipBlanks()
        var output = Array(original[..<start])
        rewrite(old, at: start, as: new, indentation: [], into: &output)
        let end = layout.skipValue(at: start)
        return output + original[end...]
    }

    private func rewrite(
        _ old: JSONValue, at start: Int, as new: JSONValue, indentation: [UInt8],
        into output: inout [UInt8]
    ) {
        var layout = JSONLayout(original)
        switch (old, new) {
        case _ where old == new:
            output += original[start..<layout.skipValue(at: start)]
        case (.object(let old), .object(let new)) where !old.isEmpty:
            let pieces = layout.pieces(at: start)
            var indices: [Exact<String>: Int] = [:]
            for (index, key) in old.keys.enumerated() {
                indices[Exact(wrappedValue: key)] = index
            }
            let sources = new.members.map { indices[Exact(wrappedValue: $0.key)] }
            write("{", "}", pieces, sources, into: &output) { position, piece, inner, output in
                let member = new.members[position]
                if let index = sources[position], let piece {
                    output += original[piece.start..<piece.valueStart]
                    rewrite(
                        old.members[index].value, at: piece.valueStart, as: member.value,
                        indentation: inner, into: &output)
                } else {
                    var writer = JSONWriter(style: style)
                    writer.write(member.key)
                    writer.output += style.colon
                    writer.write(member.value, indentation: inner)
                    output += writer.output
                }
            }
        case (.array(let old), .array(let new)) where !old.isEmpty:
            let pieces = layout.pieces(at: start)
            let sources = JSONRewriter.matches(of: new, in: old)
            write("[", "]", pieces, sources, into: &output) { position, piece, inner, output in
                if let index = sources[position], let piece {
                    rewrite(
                        old[index], at: piece.valueStart, as: new[position], indentation: inner,
                        into: &output)
                } else {
                    output += printed(new[position], indentation: inner)
                }
            }
        default:
            output += printed(new, indentation: indentation)
        }
    }

    private func printed(_ value: JSONValue, indentation: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(style: style)
        writer.write(value, indentation: indentation)
        return writer.output
    }

    /// Writes the entries of an object or array. `sources` holds for each of them the old entry it
    /// comes from; a new entry takes the blanks of its neighbour.
    private func write(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ pieces: JSONLayout.Pieces,
        _ sources: [Int?], into output: inout [UInt8],
        entry: (Int, JSONLayout.Piece?, [UInt8], inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (position, source) in sources.enumerated() {
            let piece = source.map { pieces.entries[$0] }
            let blanks = blanks(before: piece, at: position, of: pieces)
            if position > 0 { output.append(UInt8(ascii: ",")) }
            output += blanks
            let lineStart = blanks.lastIndex(of: UInt8(ascii: "\n"))
            entry(position, piece, lineStart.map { Array(blanks[($0 + 1)...]) } ?? [], &output)
            if let piece, position < sources.count - 1 {
                output += original[piece.valueEnd..<piece.end]
            }
        }
        if !sources.isEmpty { output += original[pieces.tailStart..<pieces.close] }
        output.append(UInt8(ascii: close))
    }

    /// The blanks before an entry: the first and the others may differ, as in `[1, 2]`.
    private func blanks(
        before piece: JSONLayout.Piece?, at position: Int, of pieces: JSONLayout.Pieces
    ) -> ArraySlice<UInt8> {
        let first = original[pieces.entries[0].blanksStart..<pieces.entries[0].start]
        if position == 0 { return first }
        if let piece, piece.blanksStart != pieces.entries[0].blanksStart {
            return original[piece.blanksStart..<piece.start]
        }
        guard pieces.entries.count > 1 else {
            return first.isEmpty && style.isSpaced ? [UInt8(ascii: " ")] : first
        }
        return original[pieces.entries[1].blanksStart..<pieces.entries[1].start]
    }

    /// For each new element the old one it is or, where it is none of them, replaces.
    private static func matches(of new: [JSONValue], in old: [JSONValue]) -> [Int?] {
        let shorter = min(old.count, new.count)
        var prefix = 0
        while prefix < shorter, old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < shorter - prefix,
            old[old.count - 1 - suffix] == new[new.count - 1 - suffix]
        { suffix += 1 }
        let changedNew = prefix..<(new.count - suffix)
        let changedOld = prefix..<(old.count - suffix)
        // What moved is found by its value; what is left over pairs up in order.
        var places: [JSONValue: [Int]] = [:]
        if !changedNew.isEmpty {
            for index in changedOld.reversed() { places[old[index], default: []].append(index) }
        }
        var sources: [Int?] = new.indices.map { index in
            if index < prefix { return index }
            if index >= changedNew.upperBound { return index + old.count - new.count }
            return places[new[index]]?.popLast()
        }
        var unused = Set(changedOld).subtracting(sources.compactMap(\.self)).sorted()[...]
        // Only where none came or went: else a new element would inherit another's layout.
        if changedNew.count == changedOld.count {
            for index in changedNew where sources[index] == nil {
                sources[index] = unused.popFirst()
            }
        }
        return sources
    }
}
