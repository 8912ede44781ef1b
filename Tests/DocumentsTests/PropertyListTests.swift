import DocumentFuzzing
import Documents
import Testing

/// Property lists in and out.
@Suite struct PropertyListTests {
    @Test func `XML and binary hold the same`() throws {
        let list = try PropertyList.read(try Samples.read("all.plist"))
        #expect(list["d"]?["e"] == .string(""))
        guard case .array(let values) = list["a"] else {
            Issue.record("no array: \(list)")
            return
        }
        #expect(
            values == [
                .integer(1), .integer(-1), .real(2.5), .boolean(true), .boolean(false),
                .data(Array("bytes".utf8)), .string("text & <more>"), .integer(70_000),
                .integer(1 << 40),
            ])
        #expect(try PropertyList.read(list.binary()) == list)
    }

    @Test(arguments: [
        ("<date>2001-01-01T00:00:00Z</date>", PropertyList.date(0)),
        ("<date>2026-11-21T11:49:17Z</date>", .date(816_954_557)),
        ("<date>1999-12-31T23:59:59Z</date>", .date(-31_622_401)),
        ("<integer>-0x10</integer>", .integer(-16)), ("<real>-1.5e3</real>", .real(-1_500)),
        ("<string>a<![CDATA[<b>]]>&#233;<!-- c --></string>", .string("a<b>\u{e9}")),
        (
            "<?a b?><dict><?c > d?><key>e</key><?f?><true/><?g?></dict>",
            .dictionary([PropertyList.Entry("e", .boolean(true))])
        ),
        ("<data>\n AQID \n</data>", .data([1, 2, 3])), ("<data>AQ==</data>", .data([1])),
        ("<dict><key>CF$UID</key><integer>7</integer></dict>", .uid(7)), ("<array/>", .array([])),
    ])
    func `XML values are read`(xml: String, value: PropertyList) throws {
        #expect(try PropertyList.read(Array("<plist>\(xml)</plist>".utf8)) == value)
    }

    @Test(arguments: [
        "<plist><dict><key>a</key></dict></plist>", "<plist><true>x</true></plist>", "<plist>",
        "<plist><string>&unknown;</string></plist>", "<plist><dict><true/></dict></plist>",
        "<plist><integer>1e3</integer></plist>", "<plist><real>0x1p3</real></plist>",
        "<plist><date>2026-13-01T00:00:00Z</date></plist>", "<plist><data>A</data></plist>",
        "<plist><array></dict></plist>", "<plist><true/><true/></plist>", "<html></html>",
        "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>", "{ a = 1; }", "",
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><true/></plist>",
        "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><true/></plist>",
    ])
    func `what is no property list is refused`(text: String) {
        #expect(throws: DocumentError.self) { try PropertyList.read(Array(text.utf8)) }
    }

    @Test(arguments: XMLWriting.allCases)
    func `XML is read as the original app's decoder reads it, whatever it is written in`(
        writing: XMLWriting
    ) throws {
        let text = "<plist><dict><key>n\u{e9}</key><string>\u{fc}\u{a3}</string></dict></plist>"
        #expect(
            try PropertyList.read(writing.bytes(of: text))
                == .dictionary([PropertyList.Entry("n\u{e9}", .string("\u{fc}\u{a3}"))]))
        let prefix = "<plist><array><string>\u{e9}</string>"
        let error = #expect(throws: DocumentError.self) {
            try PropertyList.read(writing.bytes(of: prefix + "<nothing/></array></plist>"))
        }
        #expect(error?.place == .byte(writing.bytes(of: prefix).count))
    }

    @Test func `XML that is not written as it says is refused, and what would be right is told`() {
        let writing = XMLWriting.utf16Little
        let cut = writing.bytes(of: "<plist><string>\u{e9}</string></plist>\n").dropLast()
        #expect(throws: DocumentError.self) { try PropertyList.read(Array(cut)) }
        var lone = writing.bytes(of: "<plist><string>~</string></plist>")
        let tilde = lone.firstIndex(of: UInt8(ascii: "~"))!
        lone.replaceSubrange(tilde...(tilde + 1), with: [0x00, 0xd8])
        #expect(throws: DocumentError.self) { try PropertyList.read(lone) }
        let other = "<?xml version=\"1.0\" encoding=\"Macintosh\"?><plist><true/></plist>"
        let error = #expect(throws: DocumentError.self) { try PropertyList.read(Array(other.utf8)) }
        #expect(error?.reason.contains("'macintosh'; UTF-8, ISO-8859-1, Windows-1252") == true)
    }

    @Test(arguments: ["windows-1252", "Windows-1252", "cp1252"])
    func `XML in Windows-1252 is read as the original app's decoder reads it`(
        encoding: String
    ) throws {
        let head = Array("<?xml version=\"1.0\" encoding=\"\(encoding)\"?><plist><string>".utf8)
        let tail = Array("</string></plist>".utf8)
        let text: [UInt8] = [0x80, 0x8e, 0x9f, 0xa0, 0xe9, 0x41]
        #expect(
            try PropertyList.read(head + text + tail)
                == .string("\u{20ac}\u{17d}\u{178}\u{a0}\u{e9}A"))
        // The five bytes that it gives no character.
        for byte: UInt8 in [0x81, 0x8d, 0x8f, 0x90, 0x9d] {
            let error = #expect(throws: DocumentError.self) {
                try PropertyList.read(head + [0xe9, byte] + tail)
            }
            #expect(error?.place == .byte(head.count + 1))
        }
    }

    @Test(arguments: [
        ("&#65;", "A"), ("&#x41;", "A"), ("&#x1f600;", "\u{1f600}"), ("&#x1F600;", "\u{1f600}"),
        ("&#0000000000000000000065;", "A"), ("&#9;", "\t"), ("&#38;#65;", "&#65;"),
    ])
    func `XML characters are read by their numbers`(xml: String, text: String) throws {
        let list = try PropertyList.read(
            Array("<plist><dict><key>\(xml)</key><string>a\(xml)b</string></dict></plist>".utf8))
        #expect(list == .dictionary([PropertyList.Entry(text, .string("a\(text)b"))]))
    }

    @Test(arguments: [
        "&#0;", "&#xD800;", "&#x110000;", "&#99999999999999999999;", "&#;", "&#x;", "&#+65;",
        "&#-65;", "&#x-1;", "&#X41;", "&#6 5;", "&#65", "&;", "&nbsp;",
        "&#\(String(repeating: "0", count: 100))65;",
    ])
    func `XML numbers that are no character are refused where they stand`(xml: String) {
        let error = #expect(throws: DocumentError.self) {
            try PropertyList.read(Array("<plist><string>a\(xml)b</string></plist>".utf8))
        }
        #expect(error?.kind == .malformed)
        #expect(error?.place == .byte(16), "\(String(describing: error))")
    }

    @Test func `levels are bounded`() throws {
        func nested(_ levels: Int) -> PropertyList {
            (0..<levels).reduce(.boolean(true)) { list, _ in .array([list]) }
        }
        #expect(try PropertyList.read(nested(64).binary()) == nested(64))
        let error = #expect(throws: DocumentError.self) {
            try PropertyList.read(nested(65).binary())
        }
        #expect(error?.kind == .tooLarge)
    }

    @Test func `a container held twice is refused with its object`() throws {
        let bytes = try Samples.read("bomb.plist")
        let error = #expect(throws: DocumentError.self) { try PropertyList.read(bytes) }
        guard case .object(let index, _) = error?.place else {
            Issue.record("no object: \(String(describing: error))")
            return
        }
        #expect(index > 0)
        #expect(throws: DocumentError.self) {
            try PropertyList.read(try Samples.read("huge-count.plist"))
        }
    }

    @Test func `a string that very many hold is refused, one that many hold is not`() throws {
        func list(_ count: Int, _ length: Int) throws -> [UInt8] {
            let text = PropertyList.string(String(repeating: "y", count: length))
            return try PropertyList.array(Array(repeating: text, count: count)).binary()
        }
        let most = Limits.propertyListSharedBytes
        #expect(throws: Never.self) { try PropertyList.read(try list(most / 1_000 + 1, 1_000)) }
        let bytes = try list(most / 1_000 + 2, 1_000)
        #expect(bytes.count < 20_000)
        let error = #expect(throws: DocumentError.self) { try PropertyList.read(bytes) }
        #expect(error?.kind == .tooLarge)
        #expect(error?.place == .object(1, offset: 8 + 4 + (most / 1_000 + 2)))
    }

    @Test func `equal strings are told apart by their scalars`() throws {
        let list = PropertyList.array([
            .string("\u{e9}"), .string("e\u{301}"), .real(-0.0), .real(0),
        ])
        guard case .array(let values) = try PropertyList.read(list.binary()),
            case .string(let text) = values[1], case .real(let zero) = values[3]
        else {
            Issue.record("not what was written")
            return
        }
        #expect(Array(text.unicodeScalars).count == 2)
        #expect(zero.sign == .plus)
    }

    @Test func `any value comes back`() throws {
        var generator = DocumentGenerator(SeededGenerator(seed: 5))
        for _ in 0..<2_000 {
            let list = generator.propertyList()
            #expect(try PropertyList.read(list.binary()) == list)
        }
    }

    @Test(arguments: [
        ("9223372036854775807", PropertyList.integer(.max)),
        ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
        ("0xFFFFFFFFFFFFFFFF", .unsigned(.max)), ("+18446744073709551615", .unsigned(.max)),
        ("-9223372036854775808", .integer(.min)),
    ])
    func `whole numbers of all 64 bits are read and written`(
        text: String, value: PropertyList
    ) throws {
        let xml = Array("<plist><array><integer>\(text)</integer></array></plist>".utf8)
        #expect(try PropertyList.read(xml) == .array([value]))
        #expect(try PropertyList.read(PropertyList.array([value]).binary()) == .array([value]))
    }

    @Test(arguments: [
        "18446744073709551616", "-9223372036854775809", "+-0", "--1", "++1", "0x-1", "0x", "-", "",
    ])
    func `what is no whole number of 64 bits is refused`(text: String) {
        let xml = Array("<plist><integer>\(text)</integer></plist>".utf8)
        #expect(throws: DocumentError.self) { try PropertyList.read(xml) }
    }

    @Test func `whole numbers of 16 bytes are as other writers have them`() throws {
        let bytes = try PropertyList.unsigned(1 << 63).binary()
        #expect(
            Array(bytes[8..<25]) == [0x14] + Array(repeating: 0, count: 8) + [0x80]
                + Array(repeating: 0, count: 7))
        var negative = bytes
        negative.replaceSubrange(9..<17, with: Array(repeating: 0xff, count: 8))
        #expect(try PropertyList.read(negative) == .integer(.min))
        var beyond = bytes
        beyond[16] = 1
        #expect(throws: DocumentError.self) { try PropertyList.read(beyond) }
    }

    @Test func `what is not a number is equal to itself`() {
        let list = PropertyList.array([.real(.nan), .real32(.nan), .date(.nan)])
        #expect(list == list)
        #expect(Set([list, list]).count == 1)
        #expect(PropertyList.real(0) != .date(0))
    }

    @Test func `more than is read back is not written`() {
        let list = PropertyList.data(Array(repeating: 0, count: Limits.propertyListBytes))
        let error = #expect(throws: DocumentError.self) { try list.binary() }
        #expect(error?.kind == .tooLarge)
    }
}

/// The ways to write a text in XML that are read.
enum XMLWriting: CaseIterable {
    case plain, utf8, utf8Marked, latin1, latin1Single, windows, utf16Little, utf16Big,
        utf16Undeclared
    case utf32Little, utf32Big

    /// A document of a text that is in Latin-1.
    func bytes(of text: String) -> [UInt8] {
        func declared(_ encoding: String) -> String {
            "<?xml version=\"1.0\" encoding=\"\(encoding)\"?>\n" + text
        }
        func units(_ text: String, _ isBigEndian: Bool) -> [UInt8] {
            ([0xfeff] + text.utf16).flatMap { unit -> [UInt8] in
                let pair = [UInt8(unit >> 8), UInt8(unit & 0xff)]
                return isBigEndian ? pair : pair.reversed()
            }
        }
        func single(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }
        switch self {
        case .plain: return Array(text.utf8)
        case .utf8: return Array(declared("UTF-8").utf8)
        // The mark tells, whatever is declared.
        case .utf8Marked: return [0xef, 0xbb, 0xbf] + Array(declared("ISO-8859-1").utf8)
        case .latin1: return single(declared("ISO-8859-1"))
        case .latin1Single: return single("<?xml version='1.0' encoding = 'latin1' ?>" + text)
        case .windows: return single(declared("windows-1252"))
        case .utf32Little: return WideWriting.utf32LittleMarked.bytes(of: declared("UTF-32"))
        case .utf32Big: return WideWriting.utf32BigMarked.bytes(of: text)
        case .utf16Little: return units(declared("UTF-16"), false)
        case .utf16Big: return units(declared("utf-8"), true)
        case .utf16Undeclared: return units(text, false)
        }
    }
}
