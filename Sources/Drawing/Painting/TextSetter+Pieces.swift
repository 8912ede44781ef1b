import CPangoCairo

extension TextSetter.Line {
    /// A part of a line that is written by itself.
    struct Piece {
        /// Its left end.
        var x: Double
        var text: String
    }

    /// The line in parts, each where it is on the picture, for who writes it without the library. One part is
    /// enough where a program that sets it from left to right gets the same: not where it is stretched,
    /// nor where its paragraph runs from right to left.
    func pieces(isJustified: Bool) -> [Piece] {
        let bytes = Array(text.utf8)
        let runs = runs
        if !isLeftward {
            if !isJustified { return [Piece(x: x, text: text)] }
            if !runs.contains(where: \.isLeftward) { return words(of: bytes[...]) }
        }
        return runs.flatMap { run -> [Piece] in
            let bytes = bytes[run.bytes]
            if run.isEllipsis { return [Piece(x: run.x, text: "\u{2026}")] }
            if run.isLeftward { return words(of: bytes, in: run, isJustified) }
            let pieces =
                isJustified
                ? words(of: bytes)
                : [Piece(x: run.x, text: String(decoding: bytes, as: UTF8.self))]
            return pieces.map { Piece(x: $0.x, text: "\u{200E}\($0.text)\u{200E}") }
        }
    }

    private static let blank = UInt8(ascii: " ")

    /// Whether the paragraph runs from right to left.
    private var isLeftward: Bool { glyphs.pointee.resolved_dir == PANGO_DIRECTION_RTL.rawValue }

    /// Words from left to right, each with the blanks after it.
    private func words(of bytes: ArraySlice<UInt8>) -> [Piece] {
        let starts = bytes.indices.filter { index in
            index == bytes.startIndex
                || (bytes[index] != Self.blank && bytes[index - 1] == Self.blank)
        }
        return zip(starts, starts.dropFirst() + [bytes.endIndex]).map { start, end in
            Piece(x: place(of: start), text: String(decoding: bytes[start..<end], as: UTF8.self))
        }
    }

    /// Words from right to left, or all of them as one, without the blanks after them: those are at the left
    /// end, of which only what is seen is known. Marks at both ends keep points and digits there from
    /// running the other way.
    private func words(
        of bytes: ArraySlice<UInt8>, in run: Run, _ isJustified: Bool
    ) -> [Piece] {
        let end = bytes.lastIndex { $0 != Self.blank }.map { $0 + 1 } ?? bytes.startIndex
        let words =
            isJustified ? bytes[..<end].split(separator: Self.blank) : [bytes[..<end]]
        return words.filter { !$0.isEmpty }.map { word in
            Piece(
                x: word.endIndex == run.end ? run.x : place(of: word.endIndex),
                text: "\u{200F}\(String(decoding: word, as: UTF8.self))\u{200F}")
        }
    }

    /// Where a character begins: at its left or, from right to left, at its right end.
    private func place(of byte: Int) -> Double {
        var place: Int32 = 0
        pango_layout_line_index_to_x(glyphs, glyphs.pointee.start_index + Int32(byte), 0, &place)
        return x + Double(place) / TextSetter.scale * unit
    }

    /// Text of one direction.
    fileprivate struct Run {
        /// In the line's text.
        var bytes: Range<Int>
        /// Where it ends, which may be beyond the text: lines are also measured with a blank more.
        var end: Int
        /// Its left end.
        var x: Double
        var level: UInt8
        /// Whether it stands for text that has no room.
        var isEllipsis: Bool

        var isLeftward: Bool { level % 2 == 1 }
    }

    /// From left to right.
    private var runs: [Run] {
        let count = text.utf8.count
        var runs: [Run] = []
        for run in glyphs.visualRuns {
            guard let item = run.item.item?.pointee else { continue }
            let start = min(max(Int(item.offset - glyphs.pointee.start_index), 0), count)
            let end = start + max(Int(item.length), 0)
            let isEllipsis = Int32(item.analysis.flags) & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS != 0
            let one = Run(
                bytes: start..<min(end, count), end: end, x: x + run.x * unit,
                level: item.analysis.level,
                isEllipsis: isEllipsis)
            if let joined = runs.last?.joined(one) {
                runs[runs.count - 1] = joined
            } else {
                runs.append(one)
            }
        }
        return runs
    }
}

extension TextSetter.Line.Run {
    /// It with the run to its right, if that goes on in the same direction: runs also end with fonts.
    fileprivate func joined(_ right: Self) -> Self? {
        guard level == right.level, !isEllipsis, !right.isEllipsis else { return nil }
        let (first, second) = isLeftward ? (right.bytes, bytes) : (bytes, right.bytes)
        guard first.upperBound == second.lowerBound else { return nil }
        var joined = self
        joined.bytes = first.lowerBound..<second.upperBound
        joined.end = isLeftward ? end : right.end
        return joined
    }
}
