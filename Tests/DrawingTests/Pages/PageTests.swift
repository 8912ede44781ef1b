import Drawing
import Glibc
import Testing

/// Pictures of text and Markdown.
@Suite struct PageTests {
    private func bitmap(_ page: Page, side: Int = 512) throws -> Bitmap {
        _ = PinnedFonts.arePinned
        return try Picture.page(page).bitmap(fitting: PixelSize(width: side, height: side))
    }

    /// What this thread has had of the processor: what others do meanwhile does not count.
    private var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration.seconds(time.tv_sec) + Duration.nanoseconds(time.tv_nsec)
    }

    private func ink(_ bitmap: Bitmap) -> Int { bitmap.pixels.count { $0 & 0xFF < 120 } }

    @Test func `a page has the proportions of paper and its text`() throws {
        let page = try bitmap(Page("Hello\nWorld"))
        #expect(page.size == (try PixelSize(width: 362, height: 512)))
        #expect(page[2, 2] == (255, 255, 255))
        #expect(ink(page) > 50)
        #expect(ink(try bitmap(Page(""))) == 0)
    }

    @Test func `headings are larger than text and marks are not shown`() throws {
        let plain = ink(try bitmap(Page("Title", markup: .markdown)))
        #expect(ink(try bitmap(Page("# Title", markup: .markdown))) > plain * 2)
        let marked = Page("**Title** [words](https://example.org)", markup: .markdown)
        let bare = Page("Title words", markup: .markdown)
        #expect(try bitmap(marked) == bitmap(bare))
    }

    @Test func `marks end a heading only behind a blank`() throws {
        let heading = try bitmap(Page("# Title", markup: .markdown))
        for text in ["# Title #", "# Title ###  "] {
            #expect(try bitmap(Page(text, markup: .markdown)) == heading, "\(text)")
        }
        #expect(
            try bitmap(Page("# C#", markup: .markdown))
                != bitmap(Page("# C", markup: .markdown)))
        #expect(
            try bitmap(Page("# 1 # 2 #", markup: .markdown))
                == bitmap(Page("# 1 # 2", markup: .markdown)))
    }

    @Test func `every construct of Markdown leaves something on the page`() throws {
        for text in [
            "- one\n- two", "1. one", "> quoted", "```\ncode\n```", "---", "Title\n===", "- [x] a",
        ] {
            let page = try bitmap(Page(text, markup: .markdown))
            #expect(page.pixels.contains { $0 & 0xFF < 250 }, "\(text)")
        }
    }

    @Test func `text files are read in the encodings people have`() throws {
        let expected = try bitmap(Page("Grüße"))
        let files: [[UInt8]] = [
            Array("Grüße".utf8), [0xEF, 0xBB, 0xBF] + Array("Grüße".utf8),
            [0x47, 0x72, 0xFC, 0xDF, 0x65],
            [0xFF, 0xFE] + "Grüße".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
            [0xFE, 0xFF] + "Grüße".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
        ]
        for file in files {
            let page = try #require(Page(bytes: file))
            #expect(try bitmap(page) == expected, "\(file)")
        }
        #expect(Page(bytes: [0x7F, 0x45, 0x4C, 0x46, 0, 1]) == nil)
    }

    @Test func `what Windows has where Latin-1 has nothing, and UTF-32, is read`() throws {
        let expected = try bitmap(Page("“5 €” – so…"))
        let windows: [UInt8] = [
            0x93, 0x35, 0x20, 0x80, 0x94, 0x20, 0x96, 0x20, 0x73, 0x6F, 0x85,
        ]
        #expect(try bitmap(#require(Page(bytes: windows))) == expected)
        let wide = [0xFEFF] + "“5 €” – so…".unicodeScalars.map(\.value)
        for isBig in [false, true] {
            let bytes = wide.flatMap { unit in
                withUnsafeBytes(of: isBig ? unit.bigEndian : unit.littleEndian, Array.init)
            }
            #expect(try bitmap(#require(Page(bytes: bytes))) == expected)
        }
        // Zeros are no text there either.
        #expect(Page(bytes: [0xFF, 0xFE, 0x41, 0, 0, 0]) == nil)
    }

    @Test func `what is not meant to be read is not on the page of Markdown`() throws {
        let pairs = [
            // What programs that make pages of it are told.
            ("---\ntitle: x\ntags: [a, b]\n---\n\n# Title\ntext", "# Title\ntext"),
            ("---\ntitle: \"Title\"\n---\ntext", "# Title\ntext"),
            ("+++\ntitle = 'Title'\n+++\ntext", "# Title\ntext"),
            ("[![Build](https://a.b/c.svg)](https://a.b) ![shot](x.png)\n\ntext", "text"),
            ("[an ![x](y) address](https://a.b/c_(d)) follows", "an  address follows"),
            ("<p align=\"center\"><img src=\"a\"></p>\n\ntext<br>", "text"),
            ("see <https://a.b>", "see https://a.b"),
            ("one\n\n<!-- not\n\nthis -->\ntwo", "one\n\ntwo"),
            ("use `a*b*c` so", "use a\\*b\\*c so"),
            ("- [X] a\n* [ ] b\n+ [x] c", "- [x] a\n- [ ] b\n- [x] c"),
        ]
        for (text, bare) in pairs {
            #expect(
                try bitmap(Page(text, markup: .markdown))
                    == bitmap(Page(bare, markup: .markdown)), "\(text)")
        }
        // What only looks like these stays.
        for text in ["---\n\na: b\n\n---", "a < b > c", "![", "`a*", "[a] (b)", "x!"] {
            #expect(ink(try bitmap(Page(text, markup: .markdown))) > 0, "\(text)")
        }
    }

    @Test func `rows of a table have lines of their own, and numbers have room`() throws {
        func lines(_ text: String) throws -> Int {
            let page = try bitmap(Page(text, markup: .markdown))
            let (width, height) = (page.size.width, page.size.height)
            let inked = (0..<height).map { y in
                page.pixels[y * width..<(y + 1) * width].contains { $0 & 0xFF < 120 }
            }
            return zip(inked, inked.dropFirst()).count { !$0 && $1 }
        }
        #expect(try lines("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\nend") == 4)
        // The point of the number is not hidden by the text.
        func start(_ mark: String) throws -> Int {
            let page = try bitmap(Page("\(mark) \u{2588}", markup: .markdown))
            let width = page.size.width
            let block = page.pixels.indices.filter { page.pixels[$0] & 0xFF < 80 }
                .map { $0 % width }
            return block.max() ?? 0
        }
        #expect(try start("123456.") > start("1.") + 20)
    }

    @Test func `texts of any kind cost little`() throws {
        let texts = [
            String(repeating: "W", count: 1 << 20), String(repeating: "\n", count: 1 << 20),
            String(repeating: "[", count: 1 << 17), String(repeating: "`", count: 1 << 17),
            String(repeating: "> ", count: 1 << 17),
            String(repeating: "`a``", count: 1 << 15), String(repeating: "[x](", count: 1 << 15),
            String(repeating: "<a", count: 1 << 16), String(repeating: "![](", count: 1 << 15),
            "---\n" + String(repeating: "a: b\n", count: 1 << 15),
            String(repeating: "[", count: 99) + "x" + String(repeating: "](u)", count: 99),
            String(repeating: "|\n", count: 1 << 15), "<!--",
            "```\n" + String(repeating: "x\n", count: 9_999),
            "e" + String(repeating: "\u{301}", count: 50_000), "\u{202E}\u{0}\u{1B}[31m", "# ",
            String(repeating: "- ", count: 1 << 16), "\u{10FFFF}\u{FFFE}", "[](", "###### ######",
        ]
        for text in texts {
            for markup in [Page.Markup.plain, .markdown] {
                let start = processorTime
                for side in [1, 3, 128, 1024] {
                    #expect(try bitmap(Page(text, markup: markup), side: side).size.height == side)
                }
                #expect(processorTime - start < .seconds(20), "\(text.prefix(20))")
            }
        }
    }

    @Test func `bytes of any kind are a page or none`() {
        var generator = SystemRandomNumberGenerator()
        for length in 0..<300 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if let page = Page(bytes: bytes) {
                #expect(throws: Never.self) { try bitmap(page, side: 32) }
            }
        }
        for mark: [UInt8] in [[0xFF, 0xFE], [0xFE, 0xFF], [0xFF, 0xFE, 1], [0xEF, 0xBB, 0xBF]] {
            #expect(Page(bytes: mark) != nil)
        }
    }
}
