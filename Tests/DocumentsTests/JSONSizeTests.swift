import Documents
import Testing

/// Documents of JSON that take much memory, which small values take many times of their text.
@Suite struct JSONSizeTests {
    /// Texts that are longer than fits into their places: each takes five times its bytes.
    private func values(_ count: Int) -> String {
        Array(repeating: "\"16 bytes of text\"", count: count).joined(separator: ",")
    }

    @Test func `a document that would take too much memory is refused where it becomes too much`()
        throws
    {
        let text = "{\"elements\": [],\n\"other\": [\(values(280_000))]}"
        let error = #expect(throws: DocumentError.self) { try Slide.read(Array(text.utf8)) }
        #expect(error?.kind == .tooLarge)
        #expect(error?.reason.contains("\(Limits.jsonMemory >> 20) MiB of memory") == true)
        guard case .line(2, _) = error?.place else {
            Issue.record("elsewhere: \(error as Any)")
            return
        }
    }

    @Test func `a document that would not be read again is not written`() throws {
        let text = "{\"elements\": [],\n\"other\": [\(values(200_000))]}"
        var slide = try Slide.read(Array(text.utf8)).slide
        slide.root["more"] = slide.root["other"]
        let error = #expect(throws: DocumentError.self) { try slide.text() }
        #expect(error?.kind == .tooLarge)
    }

    /// Every value is in a line of its own behind many blanks, unless there is no room for those.
    @Test func `a document that was read is written without layout rather than not at all`()
        throws
    {
        let (depth, count) = (60, 140_000)
        let values = Array(repeating: "\"\"", count: count).joined(separator: ",")
        let levels = String(repeating: "[", count: depth) + values
        let repaired = levels + String(repeating: "]", count: depth)
        let text = Array("{\"elements\":[],\"deep\":\(repaired),}".utf8)
        var slide = try Slide.read(text).slide
        slide.title = "changed"
        let written = try slide.text(replacing: text)
        #expect(try Slide.read(written).slide == slide)
        #expect(try JSONValue.read(written).object?.keys == ["elements", "deep", "title"])
        #expect(written.count < text.count + 64)
    }

    @Test func `an object of many keys is read as it stands, and of a key twice the last value`()
        throws
    {
        let keys = (0..<3_000).map { "\"key number \($0)\":\($0)" }
        let text = "{\(keys.joined(separator: ",")),\"key number 7\":-7,\"key number 2999\":-1}"
        let (value, repairs) = try JSONValue.readTolerantly(Array(text.utf8))
        #expect(repairs.map(\.kind) == [.duplicateKey, .duplicateKey])
        let object = try #require(value.object)
        #expect(object.keys == (0..<3_000).map { "key number \($0)" })
        let values = object.members.map(\.value.integer)
        #expect(
            values == (0..<3_000).map { $0 == 7 ? -7 : $0 == 2_999 ? -1 : $0 })
    }
}
