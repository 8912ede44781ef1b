import FoundationEssentials
import Glibc
import Probing
import TestSupport

/// An X display whose screen is a file. Programs shown on it end with it.
final class VirtualDisplay {
    /// What `DISPLAY` is to be.
    let name: String
    private let folder: String
    private let server: RunningProgram

    /// Whether such displays can be had here.
    static var isInstalled: Bool { TestSupport.isInstalled("Xvfb") }

    init() throws {
        folder = try TemporaryDirectory.make()
        let pipe = try Pipe()
        defer { pipe.closeReading() }
        // It chooses a number that is free, and writes it.
        server = try RunningProgram(
            [
                "Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-fbdir", folder,
                "-nolisten", "tcp", "-noreset",
            ].map { Array($0.utf8) }, output: pipe.writing)
        pipe.closeWriting()
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(pipe.reading, &byte, 1) == 1, byte != 0x0a { line.append(byte) }
        guard !line.isEmpty else { throw TestSetupFailure("Xvfb: \(server.wait(seconds: 5))") }
        name = ":" + String(decoding: line, as: UTF8.self)
    }

    deinit {
        server.kill(signal: SIGTERM)
        _ = server.wait(seconds: 10)
        TemporaryDirectory.remove(folder)
    }

    /// What the screen shows now.
    func screen() throws -> ScreenImage {
        try ScreenImage(Array(Data(contentsOf: URL(filePath: "\(folder)/Xvfb_screen0"))))
    }
}

/// The pixels of a screen, read from the format of `xwd`.
struct ScreenImage: Equatable {
    let width: Int
    let height: Int
    /// 0xRRGGBB, row by row.
    private let pixels: [UInt32]

    init(_ bytes: [UInt8]) throws {
        func word(_ index: Int) -> Int {
            bytes[4 * index..<4 * index + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.count > 100, word(11) == 32, word(7) == 0 else {
            throw TestSetupFailure("a screen of another format")
        }
        (width, height) = (word(4), word(5))
        let (start, line) = (word(0) + 12 * word(19), word(12))
        guard bytes.count >= start + height * line else {
            throw TestSetupFailure("a screen that is cut")
        }
        var pixels: [UInt32] = []
        pixels.reserveCapacity(width * height)
        for y in 0..<height {
            for x in 0..<width {
                let at = start + y * line + 4 * x
                pixels.append(
                    UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16)
            }
        }
        self.pixels = pixels
    }

    /// A part of the screen; its edges belong to it.
    struct Box: Equatable {
        var left: Int
        var top: Int
        var right: Int
        var bottom: Int

        var width: Int { right - left + 1 }
        var height: Int { bottom - top + 1 }
        /// Twice the middle, so that it is whole.
        var middle: (x: Int, y: Int) { (left + right, top + bottom) }
    }

    /// The smallest box around all pixels of a colour that are inside another; `nil` if none are.
    func box(within outer: Box? = nil, where isMeant: (UInt32) -> Bool) -> Box? {
        let outer = outer ?? Box(left: 0, top: 0, right: width - 1, bottom: height - 1)
        var found: Box?
        for y in outer.top...outer.bottom {
            for x in outer.left...outer.right where isMeant(pixels[y * width + x]) {
                var box = found ?? Box(left: x, top: y, right: x, bottom: y)
                box.left = min(box.left, x)
                box.right = max(box.right, x)
                box.bottom = y
                found = box
            }
        }
        return found
    }
}
