import Documents
import Drawing
import Testing

/// Texts that run from right to left, or both ways, in SVG files. Programs that show them do not know which
/// way a line runs, so each part says where it is.
@Suite struct BidirectionalTests {
    /// The parts of a text's lines from left to right: where each is and what it says, without the marks that
    /// keep its direction; and how high the line is.
    private func parts(
        of text: String, width: Int = 3_000, alignment: String = "left"
    ) throws -> [(x: Double, y: Double, text: String)] {
        let element: JSONObject = [
            "shapeType": .string("text"), "originx": .integer(100), "originy": .integer(0),
            "width": .integer(width), "height": .integer(2_000), "fontHeight": .integer(200),
            "alignment": .string(alignment), "text": .string(text),
        ]
        let size = try PixelSize(width: 400, height: 300)
        let file = try Picture.slide(Slide(elements: [SlideElement(element)]), .app)
            .svg(fitting: size)
        let svg = try #require(String(validating: file, as: UTF8.self))
        return svg.split(separator: "<tspan x=\"").dropFirst().map { piece in
            let parts = piece.split(separator: "\"")
            let words = piece.split(separator: ">")[1].prefix { $0 != "<" }
            return (
                x: Double(parts[0]) ?? .nan, y: Double(parts[2]) ?? .nan,
                text: String(
                    String.UnicodeScalarView(
                        words.unicodeScalars.filter { !["\u{200E}", "\u{200F}"].contains($0) }))
            )
        }
    }

    @Test(.pinnedFonts)
    func `Latin words in a paragraph from right to left are left of what is before them`() throws {
        let text = "\u{5e9}\u{5dc}\u{5d5}\u{5dd} abc 12 def!"
        let parts = try parts(of: text, alignment: "right")
        #expect(parts.map(\.text) == ["!", "abc 12 def", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"])
        let places = parts.map(\.x)
        #expect(places == places.sorted() && Set(places).count == 3, "\(parts)")
        // At the right end of the box, as far as its letters reach: a blank is no part of the words.
        let letters = 3_100 - places[2]
        #expect((400...760).contains(letters), "\(parts)")
        #expect(places[2] - places[1] > 0.4 * 200 * 10, "\(parts)")
        // Left and right are those of the box, whichever way the text runs.
        let others = try self.parts(of: text, alignment: "left")
        #expect(others.map(\.text) == parts.map(\.text))
        #expect(abs((others.first?.x ?? 0) - 100) < 1, "\(others)")
    }

    @Test(.pinnedFonts)
    func `a line from left to right is one part, whatever is in it`() throws {
        let text = "abc \u{5e9}\u{5dc}\u{5d5}\u{5dd} def"
        #expect(try parts(of: text).map(\.text) == [text])
    }

    @Test(.pinnedFonts)
    func `the words of a justified text from right to left are where they are drawn`() throws {
        let word = "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"
        let text = Array(repeating: word, count: 7).joined(separator: " ")
        let parts = try parts(of: text, width: 1_600, alignment: "justified")
        #expect(parts.count == 7 && parts.allSatisfy { $0.text == word })
        let lines = Dictionary(grouping: parts, by: \.y)
        #expect(lines.count > 1)
        // A line that is stretched reaches to the left end of its box.
        let first = try #require(lines[lines.keys.min() ?? 0])
        #expect(abs((first.map(\.x).min() ?? 0) - 100) < 1, "\(parts)")
    }
}
