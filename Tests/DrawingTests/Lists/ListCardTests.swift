import Documents
import Drawing
import Testing

/// The card of a list.
@Suite struct ListCardTests {
    private let list = TaskList(
        items: (0..<40).map { TaskItem("Item \($0)", isComplete: $0 >= 2) }, color: .blue)

    @Test(arguments: [128, 256, 512, 1024])
    func `a card has a bar in the list's colour and items below`(_ side: Int) throws {
        _ = PinnedFonts.arePinned
        let size = try PixelSize(width: side, height: side)
        let card = try Picture.list(list, title: "Shopping").bitmap(fitting: size)
        #expect(card[1, 1] == (0, 122, 255))
        #expect(card[side - 2, side - 2] == (255, 255, 255))
        // Each text reaches full darkness somewhere, which unreadably thin ones do not.
        let dark = card.pixels.count { $0 & 0xFF < 60 && $0 >> 16 & 0xFF < 60 }
        #expect(dark > 20)
    }

    @Test func `done items have a filled box and open ones a ring`() throws {
        _ = PinnedFonts.arePinned
        let size = try PixelSize(width: 512, height: 512)
        func card(_ isComplete: Bool) throws -> Bitmap {
            let list = TaskList(items: [TaskItem("", isComplete: isComplete)], color: .red)
            return try Picture.list(list, title: nil).bitmap(fitting: size)
        }
        func isRed(_ pixel: UInt32) -> Bool { pixel == 0xFFFF_3B30 }
        let (open, done) = (try card(false), try card(true))
        #expect(done.pixels.count(where: isRed) > open.pixels.count(where: isRed) + 100)
    }

    @Test func `texts of any kind are no danger`() throws {
        _ = PinnedFonts.arePinned
        let texts = [
            "", "\u{0}\u{1}", "\n\n\n", String(repeating: "W", count: 60_000), "\u{202E}abc",
            "e" + String(repeating: "\u{301}", count: 5_000), "\u{10FFFF}\u{FFFE}", "📖👩‍👩‍👧",
        ]
        let list = TaskList(items: texts.map { TaskItem($0) })
        for side in [1, 2, 20, 128] {
            let size = try PixelSize(width: side, height: side)
            #expect(try !Picture.list(list, title: texts[3]).png(fitting: size).isEmpty)
        }
    }
}
