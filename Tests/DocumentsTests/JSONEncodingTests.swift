import Documents
import Testing

/// JSON that is not in UTF-8, as the decoder of the original apps reads it.
@Suite struct JSONEncodingTests {
    private static let title = "\u{e9}\u{20ac}\u{1f600}"
    private static let text = "{\t\"elements\":[ ],\r\n  \"title\" :\"\(title)\", \"x\": 1.50 }"

    @Test(arguments: WideWriting.allCases)
    func `a slide in another encoding is read, told and written as UTF-8`(
        writing: WideWriting
    ) throws {
        let bytes = writing.bytes(of: Self.text)
        var (slide, repairs) = try Slide.read(bytes)
        #expect(slide.title == Self.title)
        #expect(repairs.map(\.kind) == [.otherEncoding])
        #expect(try DocumentType(content: bytes) == .slide)
        // What is not changed is laid out as it was.
        #expect(try slide.text(replacing: bytes) == Array(Self.text.utf8))
        slide.title = "a"
        let changed = String(decoding: try slide.text(replacing: bytes), as: UTF8.self)
        #expect(changed == "{\t\"elements\":[ ],\r\n  \"title\" :\"a\", \"x\": 1.50 }")
    }

    @Test(arguments: WideWriting.allCases)
    func `a scene in another encoding is read, and nothing else in it is repaired`(
        writing: WideWriting
    ) throws {
        let text = "{\"version\": 1, \"title\": \"\(Self.title)\", \"nodes\": []}"
        let (scene, repairs) = try Scene.repaired(writing.bytes(of: text))
        #expect(scene.title == Self.title)
        #expect(repairs.map(\.kind) == [.otherEncoding])
        #expect(throws: DocumentError.self) { try Scene.read(writing.bytes(of: text + "/* */")) }
    }

    @Test(arguments: WideWriting.allCases)
    func `text that is not what it seems to be is refused where it stands`(
        writing: WideWriting
    ) throws {
        let before = writing.bytes(of: "{\"elements\": [], \"title\": \"")
        let error = #expect(throws: DocumentError.self) {
            try Slide.read(before + writing.units([0xd800]) + writing.units("\"}".unicodeScalars))
        }
        #expect(error?.place == .byte(before.count))
        let cut = #expect(throws: DocumentError.self) { try Slide.read(before.dropLast()) }
        #expect(cut?.kind == .malformed)
    }

    @Test func `strict JSON is UTF-8`() {
        let bytes = WideWriting.utf16Little.bytes(of: "{}")
        #expect(throws: DocumentError.self) { try JSONValue.read(bytes) }
    }
}

/// The ways to write a text whose characters have more than a byte each.
enum WideWriting: CaseIterable {
    case utf16Little, utf16Big, utf16LittleMarked, utf16BigMarked
    case utf32Little, utf32Big, utf32LittleMarked, utf32BigMarked

    func bytes(of text: String) -> [UInt8] {
        (isMarked ? units([0xfeff]) : []) + units(text.unicodeScalars)
    }

    func units(_ scalars: some Sequence<Unicode.Scalar>) -> [UInt8] {
        isShort
            ? scalars.flatMap { scalar in
                String(Character(scalar)).utf16.flatMap { units([UInt32($0)]) }
            } : units(scalars.map(\.value))
    }

    /// Numbers that may be no characters.
    func units(_ values: [UInt32]) -> [UInt8] {
        values.flatMap { value -> [UInt8] in
            let bytes = (isShort ? [8, 0] : [24, 16, 8, 0]).map {
                UInt8(truncatingIfNeeded: value >> UInt32($0))
            }
            return isBig ? bytes : bytes.reversed()
        }
    }

    private var isMarked: Bool {
        [.utf16LittleMarked, .utf16BigMarked, .utf32LittleMarked, .utf32BigMarked].contains(self)
    }
    private var isShort: Bool {
        [.utf16Little, .utf16Big, .utf16LittleMarked, .utf16BigMarked].contains(self)
    }
    private var isBig: Bool {
        [.utf16Big, .utf16BigMarked, .utf32Big, .utf32BigMarked].contains(self)
    }
}
