import DocumentFuzzing
import Glibc
import Terminal
import Testing

/// What the bytes of terminals mean, however they come.
@Suite struct InputParserTests {
    private func events(_ text: String) -> [InputEvent] {
        var parser = InputParser()
        return parser.feed(text.utf8) + parser.flush()
    }

    @Test func `keys with names come in all their forms`() {
        #expect(
            events("\u{1B}[A\u{1B}OB\u{1B}[C\u{1B}[1;5D") == [
                .key(.up), .key(.down), .key(.right), .key(.left, .control),
            ])
        #expect(
            events("\u{1B}[3~\u{1B}[5;2~\u{1B}[H\u{1B}OF\u{1B}[Z") == [
                .key(.delete), .key(.pageUp, .shift), .key(.home), .key(.end), .key(.tab, .shift),
            ])
        #expect(
            events("\u{1B}OP\u{1B}[15~\u{1B}[24~") == [
                .key(.function(1)), .key(.function(5)), .key(.function(12)),
            ])
        // The Linux console has its own for the first five; what belongs to none is not typed.
        #expect(
            events("\u{1B}[[A\u{1B}[[E\u{1B}[[Zq\u{1B}[[\u{1B}[A") == [
                .key(.function(1)), .key(.function(5)), .key(.character("q")), .key(.up),
            ])
        #expect(
            events("\r\t\u{7F}\u{3}") == [
                .key(.enter), .key(.tab), .key(.backspace), .key(.character("c"), .control),
            ])
    }

    @Test func `characters of several bytes are one key`() {
        #expect(events("aé€😀") == ["a", "é", "€", "😀"].map { .key(.character($0)) })
    }

    @Test func `escape alone is a key, before another it is alt`() {
        #expect(events("\u{1B}") == [.key(.escape)])
        #expect(events("\u{1B}x") == [.key(.character("x"), .alt)])
        #expect(events("\u{1B}\u{1B}[A") == [.key(.escape), .key(.up)])
    }

    @Test(arguments: ["P", "X", "]", "^", "_"] as [Character])
    func `alt with a key that begins a string of the terminal takes no keys away`(
        _ character: Character
    ) {
        var parser = InputParser()
        #expect(parser.feed("\u{1B}\(character)".utf8).isEmpty && parser.isWaiting)
        #expect(parser.flush() == [.key(.character(character), .alt)])
        #expect(parser.feed("q".utf8) == [.key(.character("q"))])
        // A string that has begun is none, however long the rest of it takes.
        #expect(parser.feed("\u{1B}\(character)0".utf8).isEmpty && !parser.isWaiting)
        #expect(parser.flush().isEmpty && parser.feed("1\u{1B}\\".utf8).isEmpty)
    }

    @Test func `the mouse tells where and what`() {
        #expect(
            events("\u{1B}[<0;5;3M\u{1B}[<32;6;3M\u{1B}[<0;6;3m\u{1B}[<65;1;1M") == [
                .mouse(MouseEvent(.press, column: 4, row: 2)),
                .mouse(MouseEvent(.drag, column: 5, row: 2)),
                .mouse(MouseEvent(.release, column: 5, row: 2)),
                .mouse(MouseEvent(.wheelDown, column: 0, row: 0)),
            ])
        #expect(events("\u{1B}[<0;0;3M\u{1B}[<2;5;3M").isEmpty)
    }

    @Test func `what is pasted is text and no keys`() {
        let events = events("\u{1B}[200~one\r\ntwo\u{1B}[A\u{3}\u{1B}[201~q")
        #expect(events == [.paste("one\ntwo[A"), .key(.character("q"))])
    }

    @Test func `answers of terminals are no keys`() {
        let answers =
            "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}P>|iTerm2 3.5\u{1B}\\\u{1B}[6;20;10t\u{1B}[?62;4;22c"
        #expect(
            events(answers) == [
                .reply(.kittyGraphics), .reply(.version("iTerm2 3.5")),
                .reply(.cellSize(width: 10, height: 20)), .reply(.attributes([62, 4, 22])),
            ])
    }

    @Test func `what is unknown or cut off is skipped up to the next key`() {
        #expect(events("\u{1B}[?1;2$yq") == [.key(.character("q"))])
        #expect(events("\u{1B}]52;c;AAAA\u{7}q") == [.key(.character("q"))])
        #expect(events("\u{1B}[12\u{1B}[Aq") == [.key(.up), .key(.character("q"))])
        var parser = InputParser()
        #expect(parser.feed([0xE2, 0x82, UInt8(ascii: "q")]) == [.key(.character("q"))])
        #expect(parser.feed([0xFF, 0xC0, 0x80, UInt8(ascii: "q")]) == [.key(.character("q"))])
    }

    @Test(arguments: [0, 1])
    func `a paste is whole, or its length is told`(more: Int) {
        var parser = InputParser()
        let much = [UInt8](
            repeating: UInt8(ascii: "x"), count: InputParser.pasteLimit + more)
        #expect(parser.feed("\u{1B}[200~".utf8).isEmpty)
        #expect(parser.feed(much).isEmpty)
        let events = parser.feed("\u{1B}[201~q".utf8)
        let pasted: InputEvent =
            more == 0
            ? .paste(String(decoding: much, as: UTF8.self)) : .oversizedPaste(bytes: much.count)
        #expect(events == [pasted, .key(.character("q"))])
    }

    @Test func `a paste without end keeps a bounded part and its end is found`() {
        var parser = InputParser()
        let much = [UInt8](repeating: UInt8(ascii: "~"), count: InputParser.pasteLimit + 5_000)
        #expect(parser.feed("\u{1B}[200~".utf8).isEmpty)
        #expect(parser.feed(much).isEmpty)
        let events = parser.feed("\u{1B}[201~q".utf8)
        #expect(events == [.oversizedPaste(bytes: much.count), .key(.character("q"))])
    }

    @Test func `any bytes in any pieces give the same events, and the parser finds back`() {
        let given = getenv("SHAPEEDIT_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? UInt64(time(nil)) &* 1_000_003 ^ UInt64(getpid())
        print("input parser: seed \(seed) (repeat with SHAPEEDIT_TEST_SEED=\(seed))")
        var random = SeededGenerator(seed: seed)
        let scraps = [
            "\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}P", "\u{1B}_G", "\u{1B}]", "\u{1B}\\", "\u{7}",
            "[<0;3;4M", "200~", "201~", "\u{1B}[200~", "\u{1B}[201~", ";", "99999999999", "~", "é",
            "😀", "q", "\u{18}", "\u{9B}", "u", "?62;4c", "\u{1B}[27;5;9~", "[97;5u",
        ]
        for _ in 0..<3_000 {
            var bytes: [UInt8] = []
            for _ in 0..<random.below(40) {
                if random.chance(70) {
                    bytes += Array(random.one(of: scraps).utf8)
                } else {
                    bytes.append(UInt8(random.below(256)))
                }
            }
            var whole = InputParser()
            var pieces = InputParser()
            let events = whole.feed(bytes)
            var others: [InputEvent] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = 1 + random.below(rest.count)
                others += pieces.feed(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(events == others, "seed \(seed), bytes \(bytes)")
            // The end of a paste, of a string and of a sequence, in this order.
            _ = whole.feed("\u{1B}[201~\u{1B}\\\u{18}".utf8)
            #expect(whole.feed("q".utf8) == [.key(.character("q"))], "seed \(seed), bytes \(bytes)")
        }
    }
}
