import Catalog
import Glibc
import Model
import Probing
import Testing

/// Words that are kept, and those that are looked for.
@Suite struct TextDatabaseTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("texts.sqlite")
    }

    private func row(_ number: UInt64, _ body: String, title: String = "") -> TextRow {
        TextRow(
            document: DocumentID(rawValue: number),
            node: NodeNumber(ItemNumber(rawValue: number), 1), type: 0, title: title, body: body)
    }

    private func found(
        _ database: TextDatabase, text: String? = nil, title: String? = nil
    ) throws -> [UInt64] {
        let pattern = try #require(TextPattern(text: text, title: title))
        return try database.matches(pattern).keys.map { $0.rawValue }.sorted()
    }

    @Test func `what is written without spaces is found wherever it stands`() throws {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply(
            [
                row(1, "日本語のテキストを検索する"), row(2, "", title: "中文搜索测试"),
                row(3, "Meine iPhone手机的照片, コンピューター"), row(4, "人々と𠮷野家 café"),
            ], without: [], mark: nil)
        for (words, documents) in [
            ("日本", [1]), ("検索", [1]), ("テキスト", [1]), ("\"語の\"", [1]), ("索検", []), ("本 検索", [1]),
            ("搜索", [2]), ("测试", [2]), ("測試", []), ("手机", [3]), ("iphone手", [3]), ("phone", []),
            ("ピュー", [3]), ("々", [4]), ("𠮷野", [4]), ("CAF", [4]),
        ] as [(String, [UInt64])] {
            #expect(try found(database, text: words) == documents, "\(words)")
        }
        #expect(try found(database, title: "搜索") == [2])
        #expect(try found(database, title: "検索") == [])
        #expect(try database.title(of: DocumentID(rawValue: 2)) == "中文搜索测试")
    }

    @Test func `words are found without their accents, and in capitals, in other scripts too`()
        throws
    {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply(
            [
                row(1, "Ёлка и ежевика, МОЙ чай"),
                row(2, "Ὀδυσσεύς, ἄνθρωπος ᾧδε ΐδιος", title: "Ελλάδα"),
                row(3, "Straße ﬁne Äpfel"), row(4, "كِتَاب كتـــاب"), row(5, "שָׁלוֹם"),
                // A sigma at the end of a word is another letter, unless it is a capital.
                row(6, "ΛΌΓΟΣ"), row(7, "λόγος"), row(8, "λογοσ"),
            ], without: [], mark: nil)
        for (words, documents) in [
            ("елка", [1]), ("ЁЖЕВИКА", [1]), ("ЕЛКА", [1]), ("мои", [1]), ("оδυσσευς", []),
            ("οδυσσευς", [2]), ("ΟΔΥΣΣΕΎΣ", [2]), ("ανθρωπος", [2]), ("άνθρωπος", [2]),
            ("ωδε", [2]),
            ("ιδιος", [2]), ("ελλαδα", [2]), ("\"ΕΛΛΆΔΑ\"", [2]), ("STRASSE", [3]), ("straß", [3]),
            ("FINE", [3]), ("apfel", [3]), ("كتاب", [4]), ("كِتاب", [4]), ("שלום", [5]),
            ("ΛΟΓΟΣ", [6, 7, 8]), ("λόγος", [6, 7, 8]), ("\"λογοσ\"", [6, 7, 8]),
            ("e\u{301}lka", []), ("Е\u{308}лка", [1]), ("ε\u{301}λλα\u{301}", [2]),
        ] as [(String, [UInt64])] {
            #expect(try found(database, text: words) == documents, "\(words)")
        }
        // Nothing is left of it.
        #expect(TextPattern(text: "ـ \u{64b}", title: nil) == nil)
        #expect(try database.title(of: DocumentID(rawValue: 2)) == "Ελλάδα")
    }

    @Test func `a letter that is several characters in a row is found as the one that it is`()
        throws
    {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply(
            [
                row(1, "한국어 검색"),
                row(2, "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
                row(3, "がぎぐ パン"), row(4, "か\u{3099}き\u{3099}く\u{3099} ハ\u{309a}ン"),
                row(5, "かきく ハン"),
                row(6, "أحمد"), row(7, "ا\u{654}حمد"), row(8, "\u{fb2a}לום"), row(9, "ש\u{5c1}לום"),
            ], without: [], mark: nil)
        for (words, documents) in [
            ("한국", [1, 2]), ("\u{1112}\u{1161}\u{11ab}국", [1, 2]),
            ("\u{1100}\u{1165}\u{11b7}색", [1]),
            ("하", []), ("がぎ", [3, 4]), ("か\u{3099}ぎ", [3, 4]), ("かき", [5]), ("パン", [3, 4]),
            ("ハ\u{309a}ン", [3, 4]), ("ハン", [5]), ("أحمد", [6, 7]), ("ا\u{654}حمد", [6, 7]),
            ("\u{fb2a}לום", [8, 9]), ("שלום", [8, 9]),
        ] as [(String, [UInt64])] {
            #expect(try found(database, text: words) == documents, "\(words)")
        }
    }

    @Test func `words of Thai and its like are found wherever they stand, by their marks too`()
        throws
    {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply(
            [
                row(1, "ฉันรักประเทศไทย 2026"), row(2, "", title: "ทุกปีใหม่"), row(3, "ปูทะเล๑๒"),
                row(4, "ພາສາລາວ"), row(5, "မြန်မာဘာသာ"), row(6, "ភាសាខ្មែរ"), row(7, "हिन्दी भाषा"),
            ], without: [], mark: nil)
        for (words, documents) in [
            ("ประเทศ", [1]), ("ไทย", [1]), ("ประไทย", []), ("ปี", [2]), ("ปู", [3]), ("ปีใหม่", [2]),
            ("ทะเล", [3]), ("๑๒", [3]), ("2026", [1]), ("\"รักประเทศ\"", [1]), ("ລາວ", [4]),
            ("ဘာသာ", [5]), ("ខ្មែរ", [6]), ("ភាសា", [6]), ("हिन्दी", [7]),
        ] as [(String, [UInt64])] {
            #expect(try found(database, text: words) == documents, "\(words)")
        }
        #expect(try database.title(of: DocumentID(rawValue: 2)) == "ทุกปีใหม่")
    }

    @Test func `letters and digits of another width are found as the usual ones`() throws {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply(
            [
                row(1, "ＲＥＰＯＲＴ ２０２６、ｶﾞｲﾄﾞﾎﾞｯｸ"), row(2, "Report 2026、ガイドブック"), row(3, "カイトフック"),
                row(4, "＂quoted＂ ＊"),
            ], without: [], mark: nil)
        for (words, documents) in [
            ("report", [1, 2]), ("ｒｅｐｏ", [1, 2]), ("２０２", [1, 2]), ("2026", [1, 2]),
            ("ガイド", [1, 2]), ("ｶﾞｲﾄﾞ", [1, 2]), ("ﾌﾞｯｸ", [2]), ("カイト", [3]), ("ｶｲﾄ", [3]),
            ("ｑuote", [4]), ("＂quoted＂", [4]), ("\"ｑｕｏｔｅｄ\"", [4]),
        ] as [(String, [UInt64])] {
            #expect(try found(database, text: words) == documents, "\(words)")
        }
    }

    @Test func `marks and symbols are no words, and none of them is a fault`() throws {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply(
            [row(1, "first\0second\0third"), row(2, "hello 🅰 Ⓐ world", title: "zero\0end")],
            without: [], mark: nil)
        for (words, documents) in [
            ("first", [1]), ("second", [1]), ("\"second third\"", [1]), ("second\0third", [1]),
            ("hello 🅰", [2]), ("Ⓐ world", [2]), ("hello \u{93f}", [2]), ("end", [2]),
            ("hello \"\u{301}", [2]), ("\"\u{301}world", [2]), ("\"hello\"\u{fe0f} first", []),
            ("\"hello \u{301}world\"", [2]), ("hello \u{301}world", [2]), ("(hello", [2]),
            ("hello AND", []), ("* world", [2]),
        ] as [(String, [UInt64])] {
            #expect(try found(database, text: words) == documents, "\(words)")
        }
        for words in ["🅰", "\"", "\"\u{301}", "\0", "Ⓐ\"Ⓑ\"", "\u{93f}", "* - \u{345}"] {
            #expect(TextPattern(text: words, title: nil) == nil, "\(words)")
        }
    }

    @Test func `no memory is shared through a file, for which a full disk has no room`() throws {
        let database = try TextDatabase(path: path)
        defer { database.close() }
        try database.apply([row(1, "words")], without: [], mark: 1)
        #expect(try found(database, text: "words") == [1])
        #expect(access(path + "-wal", F_OK) == 0)
        #expect(access(path + "-shm", F_OK) != 0)
    }

    @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0, "sqlite3 is not installed"))
    func `words of an earlier version are kept and taken apart`() throws {
        let old = try TextDatabase(path: path)
        try old.apply([row(1, "x"), row(2, "plain words")], without: [], mark: 17)
        old.close()
        let aged = try run([
            "sqlite3", path,
            "UPDATE words SET title = '中文搜索', body = '日本語を検索 Ёж か \u{3099} き \u{3099} ｺ ﾞ ภาษาไทย' WHERE rowid = 1; "
                + "PRAGMA user_version = 1",
        ])
        try #require(aged.status == 0, "\(aged)")
        for _ in 1...2 {
            let database = try TextDatabase(path: path)
            defer { database.close() }
            #expect(try database.mark() == 17)
            #expect(try found(database, text: "検索") == [1])
            #expect(try found(database, title: "搜索") == [1])
            #expect(try found(database, text: "еж") == [1])
            #expect(try found(database, text: "がぎ") == [1])
            #expect(try found(database, text: "ゴ") == [1])
            #expect(try found(database, text: "ไทย") == [1])
            #expect(try found(database, text: "x") == [])
            #expect(try found(database, text: "word") == [2])
        }
    }
}
