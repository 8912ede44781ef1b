import Probing
import TestSupport
import Testing
import Thumbnailing

/// Previews that photos have in them, found by real workers.
@Suite(.serialized) struct PreviewTests {
    private let worker = ThumbnailWorker(program: Surroundings.program)

    private func preview(_ beginning: [UInt8]) throws(ThumbnailFailure) -> [UInt8] {
        try worker.preview(PreviewRequest(beginning: beginning))
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
