import DocumentFuzzing
import Terminal
import Testing

/// Screens and the way from one to another.
@Suite struct ScreenTests {
    @Test func `what does not change is not sent`() {
        var screen = Screen(columns: 20, rows: 5)
        screen.put("hello", column: 2, row: 1)
        #expect(screen.update(from: screen).isEmpty)
        var other = screen
        other.put("j", column: 2, row: 1)
        #expect(other.update(from: screen) == Array("\u{1B}[2;3Hj".utf8))
    }

    @Test func `control characters never get to the terminal`() {
        var screen = Screen(columns: 20, rows: 2)
        screen.put("a\u{1B}[31m\u{7}\u{9B}b\n\u{200E}c", column: 0, row: 0)
        #expect(screen.text(row: 0) == "a[31mbc")
    }

    @Test func `half of a wide character is never left over`() {
        var screen = Screen(columns: 10, rows: 1)
        screen.put("日本", column: 0, row: 0)
        screen.put("x", column: 1, row: 0)
        #expect(screen.text(row: 0) == " x本")
        screen.put("y", column: 2, row: 0)
        #expect(screen.text(row: 0) == " xy")
        #expect(screen.put("日本日本日", column: 0, row: 0, limit: 5) == 4)
    }

    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("한", 2), ("😀", 2), ("❤\u{FE0F}", 2),
        ("👨‍👩‍👧", 2), ("\u{200B}", 0), ("\u{7}", 0), ("ｱ", 1), ("Ａ", 2),
    ])
    func `characters take their cells`(_ character: String, _ cells: Int) {
        #expect(character.cells == cells)
    }

    @Test(arguments: [
        ("abc é 日本", "abc é 日本"), ("a\u{202E}cod.exe", "a\\u202ecod.exe"),
        ("\u{2066}x\u{2069}", "\\u2066x\\u2069"), ("a\u{200B}b\u{AD}c", "a\\u200bb\\u00adc"),
        ("a\u{2028}b\u{FEFF}", "a\\u2028b\\ufeff"), ("x\u{E0041}y", "x\\udb40\\udc41y"),
        // What scripts and emoji are made of stays.
        ("👨‍👩‍👧 ❤\u{FE0F}", "👨‍👩‍👧 ❤\u{FE0F}"), ("می\u{200C}خواهم", "می\u{200C}خواهم"),
        (
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
        ),
    ])
    func `characters that make a name look like another one are written out`(
        _ text: String, _ shown: String
    ) {
        #expect(Array(text.revealed.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test func `text that does not fit says so`() {
        #expect("hello".fitting(5) == "hello")
        #expect("hello".fitting(4) == "hel…")
        #expect("日本語".fitting(4) == "日…")
        #expect("hello".fitting(0) == "")
    }

    @Test func `updates lead from any screen to any other`() {
        var random = SeededGenerator(seed: 20)
        let words = ["a", "bc", "日本", "😀x", "…", " ", "é"]
        let styles = [
            Style.plain, .bold, .reversed, Style(text: .indexed(9)), Style(text: .exact(0x102030)),
        ]
        var terminal = ShownScreen(columns: 30, rows: 6)
        var shown: Screen?
        for _ in 0..<300 {
            var screen =
                random.chance(50)
                ? shown ?? Screen(columns: 30, rows: 6)
                : Screen(columns: 30, rows: 6)
            for _ in 0..<random.below(12) {
                screen.put(
                    random.one(of: words), column: random.below(30), row: random.below(6),
                    style: random.one(of: styles))
            }
            screen.cursor = random.chance(50) ? nil : (random.below(30), random.below(6))
            terminal.take(screen.update(from: shown))
            shown = screen
            #expect(terminal.characters == screen.cells.map(\.character))
            #expect(terminal.unknown.isEmpty)
            #expect(
                terminal.cursor.map { [$0.0, $0.1] } == screen.cursor.map { [$0.column, $0.row] })
        }
    }

    @Test(arguments: ShownScreen.Joining.allCases)
    func `nothing is left of characters that take other cells than they should`(
        _ joining: ShownScreen.Joining
    ) {
        var random = SeededGenerator(seed: 21)
        let words = ["a", "क्षि", "👩‍👩‍👧", "👍🏽x", "🇩🇪", "☺\u{FE0F}", "e\u{301}", "日", "কৌ", "  "]
        var terminal = ShownScreen(columns: 12, rows: 3, joining)
        var shown: Screen?
        for _ in 0..<500 {
            var screen =
                random.chance(70)
                ? shown ?? Screen(columns: 12, rows: 3) : Screen(columns: 12, rows: 3)
            for _ in 0..<random.below(4) {
                screen.put(random.one(of: words), column: random.below(12), row: random.below(3))
            }
            terminal.take(screen.update(from: shown))
            shown = screen
            let plain = screen.cells.indices.filter {
                screen.cells[$0].character?.isASCII == true
            }
            #expect(plain.allSatisfy { terminal.characters[$0] == screen.cells[$0].character })
        }
    }
}
