import Documents
import Drawing
import Testing

/// Pictures as terminals take them.
@Suite struct TerminalTests {
    private let bitmap: Bitmap

    init() throws {
        let scene = Scene(nodes: [.solid(Solid(shape: SolidShape(.cube)))])
        bitmap = try Picture.scene(scene).bitmap(fitting: PixelSize(width: 200, height: 160))
    }

    private func text(_ graphics: TerminalGraphics, _ columns: Int, _ rows: Int) throws -> String {
        String(
            decoding: try bitmap.terminalBytes(graphics, columns: columns, rows: rows),
            as: UTF8.self)
    }

    private func decoded(_ base64: some StringProtocol) -> [UInt8] {
        let digits = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bits, count) = (UInt32(0), 0)
        var bytes: [UInt8] = []
        for digit in base64.utf8 {
            guard let value = digits.firstIndex(of: digit) else { break }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    @Test func `kitty gets a PNG file in pieces of at most 4096`() throws {
        let pieces = try text(.kitty, 20, 10).split(separator: "\u{1B}\\").dropLast()
        try #require(pieces.count > 1)
        var payload = ""
        for (index, piece) in pieces.enumerated() {
            let parts = piece.split(separator: ";", maxSplits: 1)
            let isLast = index == pieces.count - 1
            let keys = index == 0 ? "a=T,f=100,q=2,c=20,r=10," : ""
            #expect(parts[0] == "\u{1B}_G\(keys)m=\(isLast ? 0 : 1)")
            #expect(parts[1].utf8.count <= 4096)
            payload += parts[1]
        }
        let read = try #require(DecodedPNG(decoded(payload)))
        #expect(read.bytes == DecodedPNG(bitmap).bytes)
    }

    @Test func `iTerm2 gets a PNG file with its size`() throws {
        let parts = try text(.iTerm2, 20, 10).split(separator: ":", maxSplits: 1)
        let file = decoded(parts[1])
        let start = "\u{1B}]1337;File=inline=1;size=\(file.count);width=20;height=10"
        #expect(parts[0].hasPrefix(start))
        #expect(parts[1].hasSuffix("\u{7}\n"))
        #expect(DecodedPNG(file)?.width == 200)
    }

    @Test func `half blocks have two pixels in each cell`() throws {
        let lines = try text(.halfBlocks, 30, 12).split(separator: "\n")
        #expect(lines.count == 12)
        for line in lines {
            #expect(line.unicodeScalars.count { $0 == "\u{2580}" } == 30)
            #expect(line.hasSuffix("\u{1B}[0m"))
        }
        let (red, green, blue) = bitmap[3, 3]
        #expect(lines[0].hasPrefix("\u{1B}[38;2;\(red);\(green);\(blue)m"))
    }

    @Test func `sixels have the size of the picture`() throws {
        let output = try text(.sixel, 20, 10)
        #expect(output.hasPrefix("\u{1B}P"))
        #expect(output.hasSuffix("\u{1B}\\\n"))
        // Whole bands of six rows.
        #expect(output.contains("\"1;1;200;162"))
    }
}
