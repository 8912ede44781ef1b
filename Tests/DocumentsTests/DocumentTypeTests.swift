import Documents
import Testing

/// Telling documents apart, and what searching needs of them.
@Suite struct DocumentTypeTests {
    @Test(arguments: [
        ("Ball.shape", DocumentType.shape), ("a.b.SLIDE", .slide), ("Würfel.shapefile", .shapeFile),
        ("x.list", .list),
    ])
    func `the end of a name tells the type`(name: String, type: DocumentType) {
        #expect(DocumentType(fileName: name) == type)
    }

    @Test(arguments: ["list", ".list", "a.lists", "a.", ""])
    func `other names have none`(name: String) {
        #expect(DocumentType(fileName: name) == nil)
    }

    @Test(
        arguments: [
            ("three.shape", DocumentType.shape), ("torus.shapeFile", .shapeFile),
            ("no-camera.shapeFile", .shapeFile), ("repairs.slide", .slide),
            ("groceries.list", .list),
            ("xml.list", .list), ("tasks.txt", nil), ("deep.json", nil),
            ("inline.bulk", nil), ("all.plist", nil),
        ] as [(String, DocumentType?)])
    func `the content tells the type`(name: String, type: DocumentType?) throws {
        #expect(try DocumentType(content: try Samples.read(name)) == type)
    }

    @Test func `other files have no type by their content, whatever they begin with`() throws {
        let texts = [
            "", " ", "hello", "{}", "[]", "null", "<!DOCTYPE html>\n<html></html>", "bplist",
            "/* h */ h1 { color: red }", "{\"version\": 1}",
        ]
        for text in texts { #expect(try DocumentType(content: Array(text.utf8)) == nil) }
        let large = [UInt8](repeating: UInt8(ascii: "b"), count: Limits.propertyListBytes + 1)
        #expect(try DocumentType(content: large) == nil)
    }

    @Test(
        arguments: [
            ("{\"elements\": [], \"x\": \(String(repeating: "[", count: 65))", .tooLarge),
            (" \n{\"elements\": [}", .malformed),
            ("// a slide\n[\(String(repeating: "[", count: 65))", .tooLarge),
            ("bplist00" + String(repeating: "x", count: Limits.propertyListBytes), .tooLarge),
            ("<plist><dict><key>shape</key></dict></plist>", .malformed),
        ] as [(String, DocumentError.Kind)])
    func `what begins as a document and cannot be read tells why, not that it is none`(
        text: String, kind: DocumentError.Kind
    ) {
        let error = #expect(throws: DocumentError.self) {
            try DocumentType(content: Array(text.utf8))
        }
        #expect(error?.kind == kind)
    }

    @Test func `of a text that is longer than what is kept for searching the beginning is`() throws
    {
        let long = String(repeating: "word ", count: Limits.searchTextBytes / 4)
        let slide = Slide(
            title: "t", elements: [long, "last"].map { SlideElement(["text": .string($0)]) })
        let facts = try DocumentType.slide.facts(of: try slide.text())
        #expect(facts.text.hasPrefix("word word") && !facts.text.contains("last"))
        let sizes = Limits.searchTextBytes - 8...Limits.searchTextBytes
        #expect(sizes.contains(facts.text.utf8.count))
    }

    @Test func `titles and words are found`() throws {
        let slide = try DocumentType.slide.facts(of: try Samples.read("eight.slide"))
        #expect(slide.title == "Eight")
        #expect(slide.text == "A\nAll types\nHello\nWorld\na greeting")
        let list = try DocumentType.list.facts(of: try Samples.read("groceries.list"))
        #expect(list == DocumentFacts(title: nil, text: "milk\nbread\ncaf\u{e9} \u{1F4D6}"))
        let scene = try DocumentType.shape.facts(of: try Samples.read("three.shape"))
        #expect(scene == DocumentFacts(title: "Three", text: "Ball\nsphere\nPair\ncube\ntorus"))
        let file = try DocumentType.shapeFile.facts(of: try Samples.read("torus.shapeFile"))
        #expect(file == DocumentFacts(title: nil, text: "torus"))
    }

    @Test func `a title is short however many marks its letters have`() throws {
        let title = "a" + String(repeating: "\u{301}", count: 1_000_000)
        let slide = try DocumentType.slide.facts(
            of: Array("{\"elements\": [], \"bgcolor\": \"#FFFFFF\", \"title\": \"\(title)\"}".utf8))
        #expect(slide.title?.unicodeScalars.count == 1_024)
        #expect(PlainText.facts(of: title, isMarkdown: true).title?.unicodeScalars.count == 1_024)
    }

    @Test func `a title has no white space around it`() {
        #expect(
            PlainText.facts(of: "\n \t\n\t First line \r\nnext", isMarkdown: false).title
                == "First line")
        #expect(PlainText.facts(of: "text\n## Heading\t\n", isMarkdown: true).title == "Heading")
    }

    @Test func `the title of Markdown is what is said before it, or its heading`() {
        for (text, title) in [
            ("---\ndate: 2026-03-01\ntitle: \"My notes\"\n---\n# Heading\n", "My notes"),
            ("---\r\ntitle: My notes\r\n---\r\ntext", "My notes"),
            ("+++\ntitle = 'My notes'\n+++\n", "My notes"),
            ("---\ntags: [a]\n---\n\n## Heading\n", "Heading"),
            ("---\ntitles: x\n...\ntext\n", "text"),
            ("Tool\n====\n```sh\n# install it\n```\n", "Tool"),
            ("# **My** [notes](https://a.b) `a*b` #\n", "My notes a*b"),
            ("[![x](y)](z)\n<p align=center>\nText\n", "Text"),
            ("# ![logo](x.png)\n## Tool\n", "Tool"), ("text\n# C#\n", "C#"),
            ("Text\n```\n# no\n```\n# Heading", "Heading"),
            ("---\n\ntitle: x\n---\n", "---"),
        ] {
            #expect(PlainText.facts(of: text, isMarkdown: true).title == title, "\(text)")
        }
    }
}
