import Drawing
import Probing
import TestSupport
import Testing
import Thumbnailing

/// Previews that photos have in them, found by real workers.
@Suite(.serialized) struct PreviewTests {
    private let worker = ThumbnailWorker(program: Surroundings.program)

    private func preview(_ photo: [UInt8]) throws(ThumbnailFailure) -> [UInt8] {
        try worker.preview(inPhotoOf: photo.count) { Array(photo[$0]) }.bytes
    }

    /// What is read of a photo, and whether that led to a preview.
    private struct Search: Equatable {
        var parts: [Range<Int>]
        var found: Bool
    }

    private func search(_ photo: [UInt8]) throws -> Search {
        var parts: [Range<Int>] = []
        do throws(ThumbnailFailure) {
            let found = try worker.preview(inPhotoOf: photo.count) { range in
                parts.append(range)
                return Array(photo[range])
            }.bytes
            let isWhole = found.suffix(Photo.pixels.count - 2) == Photo.pixels.dropFirst(2)
            return Search(parts: parts, found: isWhole)
        } catch {
            guard case .refused = error else { throw error }
            return Search(parts: parts, found: false)
        }
    }

    @Test(arguments: [1, 6] as [UInt8])
    func `the preview is a file of its own that says how it is turned`(_ orientation: UInt8) throws
    {
        let photo = Photo.bytes(orientation: orientation, size: 4_096)
        let found = try preview(photo)
        #expect(found.suffix(Photo.pixels.count - 2) == Photo.pixels.dropFirst(2))
        // In an Exif segment with the most significant byte first: tag, type, count, value.
        let told: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation]
        #expect(found.prefix(64).firstRange(of: told) != nil)
        // A little more than the segment is enough, and less is not.
        #expect(try preview(Array(photo.prefix(250))) == found)
        #expect(throws: ThumbnailFailure.self) { try preview(Array(photo.prefix(200))) }
        #expect(worker.starts == 1)
    }

    @Test func `a preview that was cut off is none`() throws {
        let photo = Photo.bytes(size: 4_096)
        let count = UInt8(Photo.pixels.count)
        let told: [UInt8] = [0x02, 0x02, 4, 0, 1, 0, 0, 0, count]
        let place = try #require(photo.firstRange(of: told)).upperBound - 1
        for missing in [1, 2, 20, count - 4] {
            var short = photo
            short[place] = count - missing
            #expect(throws: ThumbnailFailure.self, "\(missing)") { try preview(short) }
        }
    }

    @Test(arguments: [1, 6] as [UInt8])
    func `bars beside the photo in its preview are left out`(_ orientation: UInt8) throws {
        func entry(_ tag: UInt16, _ value: Int) -> [UInt8] {
            let parts: [UInt8] = [UInt8(value >> 24), UInt8(value >> 16 & 255)]
            return [UInt8(tag >> 8), UInt8(tag & 255), 0, 4, 0, 0, 0, 1] + parts
                + [UInt8(value >> 8 & 255), UInt8(value & 255)]
        }
        // The directory of the photo, of the camera and of the preview, which is behind them.
        let orient: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
        let main = [0, 2] + orient + entry(0x8769, 38) + [0, 0, 0, 68]
        let camera = [0, 2] + entry(0xA002, 1_800) + entry(0xA003, 1_200) + [0, 0, 0, 0]
        let last =
            [0, 2] + entry(0x0201, 98) + entry(0x0202, Photo.pixels.count) + [0, 0, 0, 0]
        let structure = Array("MM".utf8) + [0, 42, 0, 0, 0, 8] + main + camera + last
        let content = Array("Exif\0\0".utf8) + structure + Photo.pixels
        let length = content.count + 2
        let photo =
            [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
        let found = try worker.preview(inPhotoOf: photo.count) { Array(photo[$0]) }
        let sides = orientation == 6 ? [1_200, 1_800] : [1_800, 1_200]
        #expect([found.width, found.height] == sides)
        // Of the proportions of the photo, with bars: dark ones go, others do not.
        let isHigh = orientation == 6
        for (color, isBar) in [(UInt32(0xFF05_0308), true), (0xFF40_4040, false)] {
            let whole = isHigh ? (96, 128) : (128, 96)
            var picture = Bitmap(
                size: try PixelSize(width: whole.0, height: whole.1), color: color)
            for y in 0..<whole.1 {
                for x in 0..<whole.0 where (6..<90).contains(isHigh ? x : y) {
                    picture.pixels[y * whole.0 + x] = 0xFFE0_2010
                }
            }
            let file = try worker.fitted(
                picture.png(), size: 128, width: found.width, height: found.height)
            let drawn = try Bitmap(png: file, side: 128)
            let rest = isHigh ? (85, 128) : (128, 85)
            let expected = isBar ? rest : whole
            #expect([drawn.size.width, drawn.size.height] == [expected.0, expected.1])
            #expect(!isBar || drawn.pixels[2 * expected.0 + 2] == 0xFFE0_2010)
        }
    }

    @Test func `what has none is refused`() throws {
        for bytes in [
            [], [0xFF], Photo.pixels, Photo.bytes(hasPreview: false, size: 4_096),
            Array("GIF89a".utf8), [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 128 << 10),
        ] {
            let problem = #expect(throws: ThumbnailFailure.self) { try preview(bytes) }
            guard case .refused = problem else {
                Issue.record("\(bytes.prefix(16)): \(problem as Any)")
                continue
            }
        }
        #expect(worker.starts == 1)
    }

    @Test func `no more of a photo is read than what leads to its preview`() throws {
        let size = 100_000
        let header = 0..<4_096
        let near = try search(Photo.bytes(size: size))
        #expect(near == Search(parts: [header], found: true))
        // The second directory, as much as one can need, and exactly the preview.
        let far = try search(Photo.bytes(gap: 8_000, size: size))
        #expect(far.found)
        #expect(far.parts == [header, 8_038..<9_062, 16_080..<16_080 + Photo.pixels.count])
        // Behind another segment, which is passed over.
        let behind = try search(Photo.bytes(lead: 10_000, size: size))
        #expect(behind == Search(parts: [header, 10_002..<11_026], found: true))
        // A small photo is read as far as it goes.
        let small = try search(Photo.bytes(size: 500))
        #expect(small == Search(parts: [0..<500], found: true))
        // It is no photo, has no such segment, or none with a second directory.
        var single = Photo.bytes(size: size)
        single.replaceSubrange(34..<38, with: [0, 0, 0, 0])
        for bytes in [
            Array("GIF89a".utf8) + [UInt8](repeating: 0, count: size),
            Photo.bytes(hasPreview: false, size: size), single,
        ] {
            #expect(try search(bytes) == Search(parts: [header], found: false))
        }
        #expect(worker.starts == 1)
    }

    @Test func `a photo that leads nowhere is given up`() throws {
        let segments = (0..<100).flatMap { _ in Photo.other(5_000) }
        let chain = try search(
            Array(Photo.pixels.prefix(2)) + segments + Array(Photo.pixels.dropFirst(2)))
        // A directory of 65,535 entries, none of which is the one that is looked for.
        var endless = Photo.bytes(gap: 30_000, size: 100_000)
        endless.replaceSubrange(30_038..<30_040, with: [0xFF, 0xFF])
        endless.replaceSubrange(30_040..<60_000, with: [UInt8](repeating: 1, count: 29_960))
        let directory = try search(endless)
        for search in [chain, directory] {
            #expect(!search.found)
            #expect(search.parts.count <= PreviewRequest.mostParts)
            #expect(search.parts.reduce(0) { $0 + $1.count } <= PreviewRequest.mostBytes)
        }
        #expect(worker.starts == 1)
    }

    @Test func `mutated photos never cost more than themselves`() throws {
        var generator = SplitMix(seed: Seed.next("mutated photos"))
        // Where the directories are: nearly every byte of it counts.
        let photo = Photo.bytes(orientation: 6, size: 512)
        var found = 0
        for _ in 0..<10_000 {
            var bytes = photo
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<110, using: &generator)
                bytes[place] =
                    [0, 0xFF, 0x7F, 0x80, .random(in: 0...255, using: &generator)]
                    .randomElement(using: &generator) ?? 0
            }
            bytes.removeLast(Int.random(in: 0..<4, using: &generator) == 0 ? 300 : 0)
            do throws(ThumbnailFailure) {
                // Never a byte that was not in the photo.
                #expect(try preview(bytes).count <= bytes.count + 64)
                found += 1
            } catch {
                if case .refused = error { continue }
                Issue.record("\(error): \(bytes)")
            }
        }
        #expect(found > 0 && found < 10_000)
        #expect(worker.starts == 1)
    }
}
