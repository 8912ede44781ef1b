import DocumentFuzzing
import Documents
import Testing

/// JSON in and out.
@Suite struct JSONTests {
    private func text(_ value: JSONValue, replacing original: String) -> String {
        String(decoding: value.text(replacing: Array(original.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        "", "{", "[1,]", "[1 2]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "01", "1.", ".5", "+1", "1e",
        "nul", "\"a", "\"\\x\"", "\"\\ud800\"", "\"\t\"", "[1] 2", "/**/1", "{\"a\":1,\"a\":2}",
        "\u{feff}1", "NaN", "-", "[,1]", "'a'",
    ])
    func `what is not JSON is refused with its place`(text: String) {
        let error = #expect(throws: DocumentError.self) { try JSONValue.read(Array(text.utf8)) }
        #expect(error?.kind == .malformed)
        guard case .line = error?.place else {
            Issue.record("no line: \(String(describing: error))")
            return
        }
    }

    @Test func `the place of a mistake is its line and column`() {
        let error = #expect(throws: DocumentError.self) {
            try JSONValue.read(Array("{\n  \"a\": tru\n}".utf8))
        }
        #expect(error?.place == .line(2, column: 8))
    }

    @Test(arguments: ["{\"a\": [007]}", "[0x10]", "[-01]", "[1, 00]"])
    func `a number with zeros before it is not taken for two`(text: String) {
        let error = #expect(throws: DocumentError.self) {
            try JSONValue.readTolerantly(Array(text.utf8))
        }
        #expect(error?.reason.contains("without zeros before it") == true)
    }

    @Test func `a comment ends with its line however that ends`() throws {
        let text = "{ // one\r \"a\": 1, // two\r\n \"b\": 2 // three\r}"
        let (value, _) = try JSONValue.readTolerantly(Array(text.utf8))
        #expect(value == .object(["a": .number(JSONNumber(1)), "b": .number(JSONNumber(2))]))
    }

    @Test func `what is clear is repaired and listed`() throws {
        let text = "{ // one\n \"a\": [1 2,], /* two */ \"a\": \"\t\\ud800\"}"
        let (value, repairs) = try JSONValue.readTolerantly(Array(text.utf8))
        #expect(value == .object(["a": .string("\t\u{fffd}")]))
        let kinds = repairs.map(\.kind)
        #expect(
            kinds == [
                .comment, .missingComma, .trailingComma, .comment, .duplicateKey,
                .controlCharacter, .invalidText,
            ])
        #expect(repairs[1].line == 2)
        #expect(repairs[1].column == 10)
        #expect("\(repairs[1])" == "line 2, column 10: a missing comma was put in")
    }

    @Test func `keys that only their composition tells apart are two`() throws {
        let composed = "Caf\u{e9}"
        let decomposed = "Cafe\u{301}"
        let json = "{\"\(composed)\":1, \"\(decomposed)\":2}"
        var value = try JSONValue.read(Array(json.utf8))
        var object = try #require(value.object)
        #expect(object[composed] == .integer(1) && object[decomposed] == .integer(2))
        #expect(value != .object([decomposed: .integer(1), composed: .integer(2)]))
        object[decomposed] = .integer(3)
        value = .object(object)
        #expect(text(value, replacing: json) == json.replacing("2", with: "3"))
        let slide = "{\"elements\":[],\"\(composed)\":1,\"\(decomposed)\":2}"
        #expect(try Slide.read(Array(slide.utf8)).repairs.isEmpty)
    }

    @Test func `very many keys of the same letters are read at once`() throws {
        // Each of 17 letters is composed in one of two ways, so that all are equal for people.
        let keys = (0..<(1 << 17)).map { number in
            (0..<17).map { number >> $0 & 1 == 0 ? "\u{e9}" : "e\u{301}" }.joined()
        }
        let json = "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let value = try JSONValue.read(Array(json.utf8))
        #expect(value.object?.members.count == keys.count)
    }

    @Test(arguments: [
        ("\"\\ud83d\\udcd6\"", "\u{1F4D6}"), ("\"\\u00e9\\u0041\\/\\n\"", "\u{e9}A/\n"),
        ("\"\\u0000\"", "\0"),
    ])
    func `escapes are read`(json: String, text: String) throws {
        #expect(try JSONValue.read(Array(json.utf8)) == .string(text))
    }

    @Test func `half of a pair does not take the next escape along`() throws {
        let (value, repairs) = try JSONValue.readTolerantly(Array("\"\\ud800\\u0041\"".utf8))
        #expect(value == .string("\u{fffd}A"))
        #expect(repairs.map(\.kind) == [.invalidText])
    }

    @Test func `levels, values and bytes are bounded`() throws {
        let deep = Array(String(repeating: "[", count: 100_000).utf8)
        #expect(throws: DocumentError.self) { try JSONValue.read(deep) }
        let nested = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try JSONValue.read(Array(nested.utf8)) }
        let long = Array("[".utf8) + Array(repeating: UInt8(ascii: " "), count: Limits.jsonBytes)
        let error = #expect(throws: DocumentError.self) { try JSONValue.read(long) }
        #expect(error?.kind == .tooLarge)
    }

    @Test(arguments: [
        ("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}"),
        ("{ \"a\" : 1.50 ,\n\t\"b\":2 }\n", "{ \"a\" : 1.50 ,\n\t\"b\":3 }\n"),
    ])
    func `a change leaves everything else as it stands`(before: String, after: String) throws {
        var object = try #require(try JSONValue.read(Array(before.utf8)).object)
        object["b"] = .integer(3)
        #expect(text(.object(object), replacing: before) == after)
    }

    @Test func `members and elements come and go with their layout`() throws {
        let before = "{\n    \"a\": [1, 2, 3],\n    \"b\": {\"c\": [\n        {}, {}\n    ]}\n}\n"
        var object = try #require(try JSONValue.read(Array(before.utf8)).object)
        object["a"] = .array([.integer(2), .integer(3), .integer(4)])
        object["d"] = .object(["e": .boolean(true)])
        let after =
            "{\n    \"a\": [2, 3, 4],\n    \"b\": {\"c\": [\n        {}, {}\n    ]},\n"
            + "    \"d\": {\n        \"e\": true\n    }\n}\n"
        #expect(text(.object(object), replacing: before) == after)
        object["a"] = nil
        object["d"] = nil
        let rest = "{\n    \"b\": {\"c\": [\n        {}, {}\n    ]}\n}\n"
        #expect(text(.object(object), replacing: before) == rest)
    }

    /// It took minutes while all of them had one hash.
    @Test(.timeLimit(.minutes(1)))
    func `numbers beyond all reals are told apart, however many`() throws {
        let text = "[\((0..<40_000).map { "1e\(400 + $0)" }.joined(separator: ","))]"
        let numbers = try #require(try JSONValue.read(Array(text.utf8)).array)
        #expect(Set(numbers).count == 40_000)
        let small = try JSONValue.read(Array("[1, 1.0, 10e-1, 0, -0]".utf8)).array ?? []
        #expect(Set(small).count == 2)
    }

    @Test func `numbers keep their text until they change`() throws {
        let value = try JSONValue.read(Array("[1.50, 1e2, 12345678901234567890]".utf8))
        #expect(
            String(decoding: value.text(), as: UTF8.self) == "[1.50, 1e2, 12345678901234567890]\n")
        #expect(JSONValue.number(0.1) == .number(JSONNumber(0.1)!))
        #expect(JSONValue.number(.infinity) == .null)
    }

    @Test(arguments: [3, 77, 1_234] as [UInt64])
    func `any value comes back, over any other`(seed: UInt64) throws {
        var generator = DocumentGenerator(SeededGenerator(seed: seed))
        for _ in 0..<2_000 {
            let (old, new) = (generator.json(), generator.json())
            #expect(try JSONValue.read(new.text()) == new)
            #expect(try JSONValue.read(new.text(replacing: old.text())) == new)
        }
    }
}
