import Probing
import TestSupport
import Testing
import Thumbnailing

/// Photos whose facts lie in them as some program might have put them, and as none should have.
@Suite(.serialized) struct PhotoLayoutTests {
    private let worker = ThumbnailWorker(program: Surroundings.program)

    /// How a preview says that it is to be turned; nil if there is none.
    private func found(_ photo: [UInt8]) throws -> Int? {
        do throws(ThumbnailFailure) {
            let preview = try worker.preview(inPhotoOf: photo.count) { Array(photo[$0]) }.bytes
            #expect(preview.suffix(Photo.pixels.count - 2) == Photo.pixels.dropFirst(2))
            return Int(preview[31])
        } catch {
            guard case .refused = error else { throw error }
            return nil
        }
    }

    @Test func `what is valid of a photo's facts is found however they lie`() throws {
        var random = SplitMix(seed: Seed.next("photo layouts"))
        var (withPreview, turned) = (0, 0)
        for _ in 0..<4_000 {
            let layout = PhotoLayout(&random)
            let found = try found(layout.photo)
            #expect(found == layout.expected, "\(layout)")
            if found != layout.expected { return }
            withPreview += found == nil ? 0 : 1
            turned += found ?? 1 > 1 ? 1 : 0
        }
        #expect(withPreview > 500 && withPreview < 3_900 && turned > 200)
        #expect(worker.starts == 1)
    }

    @Test func `mutated layouts cost one answer at most`() throws {
        var random = SplitMix(seed: Seed.next("mutated layouts"))
        var previews = 0
        for _ in 0..<4_000 {
            var photo = PhotoLayout(&random).photo
            for _ in 0..<1 + random.below(6) {
                let place = random.below(min(photo.count, 400))
                switch random.below(4) {
                case 0: photo[place] = UInt8(random.below(256))
                case 1: photo[place] ^= 1 << UInt8(random.below(8))
                case 2: photo.remove(at: place)
                default: photo.insert([0, 0xFF, 0x80][random.below(3)], at: place)
                }
            }
            do throws(ThumbnailFailure) {
                // Never a byte that was not in the photo.
                let preview = try worker.preview(inPhotoOf: photo.count) { Array(photo[$0]) }.bytes
                #expect(preview.count <= photo.count + 64)
                previews += 1
            } catch {
                guard case .refused = error else { throw error }
            }
        }
        #expect(previews > 0)
        #expect(worker.starts == 1)
    }
}

/// A photo that was put together by chance, and what is to be found in it.
private struct PhotoLayout: CustomStringConvertible {
    /// What is wrong with it, if anything.
    private enum Fault: CaseIterable {
        case none, missing, loop, beyond, cut, afterPixels, noSignature, badOrder
    }

    private var isLittleEndian: Bool
    private var orientation: Int
    private var type: Int
    private var count: Int
    private var others: Int
    private var gap: Int
    private var isSecondFirst: Bool
    private var lead: Int
    private var isDoubled: Bool
    private var fault = Fault.none
    private(set) var photo: [UInt8] = []

    /// The orientation of the preview; nil: there is none.
    var expected: Int? {
        guard [.none, .badOrder].contains(fault) else { return nil }
        // Of another kind, or several, it is none; of a short number the first two bytes count.
        let isOne = (type == 3 || type == 4) && count == 1
        return isOne && (1...8).contains(orientation) ? orientation : 1
    }

    var description: String {
        "\(fault), little \(isLittleEndian), \(orientation) type \(type) count \(count), \(others) others, "
            + "gap \(gap), second first \(isSecondFirst), lead \(lead), doubled \(isDoubled)"
    }

    init(_ random: inout SplitMix) {
        isLittleEndian = random.chance(50)
        orientation = random.below(10)
        type = random.chance(60) ? 3 : random.below(14)
        count = random.chance(70) ? 1 : random.below(4)
        others = random.below(20)
        gap = random.below(30)
        isSecondFirst = random.chance(30)
        lead = random.chance(30) ? 4 + random.below(600) : 0
        isDoubled = random.chance(20)
        if random.chance(40) { fault = Fault.allCases[random.below(Fault.allCases.count)] }
        photo = make(&random)
    }

    private func number(_ value: Int, _ bytes: Int) -> [UInt8] {
        let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittleEndian ? little : little.reversed()
    }

    private func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
        let bytes = [1, 2, 6, 7].contains(type) ? 1 : type == 3 || type == 8 ? 2 : 4
        let field = number(value, bytes) + [UInt8](repeating: 0, count: 4 - bytes)
        return number(tag, 2) + number(type, 2) + number(count, 4) + field
    }

    private func directory(_ entries: [[UInt8]], next: Int) -> [UInt8] {
        number(entries.count, 2) + entries.flatMap { $0 } + number(next, 4)
    }

    private func make(_ random: inout SplitMix) -> [UInt8] {
        var entries = (0..<others).map { entry(0x0100 + $0 % 16, 4, 1, 7 + $0) }
        let turn = entry(0x0112, type, count, orientation)
        // In no order it is found as well.
        entries.insert(
            turn, at: fault == .badOrder ? random.below(entries.count + 1) : entries.count)
        let firstBytes = 2 + 12 * entries.count + 4
        let secondBytes = 2 + 12 * 3 + 4
        let first = 8 + gap + (isSecondFirst ? secondBytes + gap : 0)
        let second = isSecondFirst ? 8 + gap : first + firstBytes + gap
        let pixels = max(first + firstBytes, second + secondBytes) + gap
        var place = pixels
        var size = Photo.pixels.count
        if fault == .beyond { place = [pixels + 1_000, 0xFFFF_FFFF, 0x8000_0000][random.below(3)] }
        if fault == .cut { size = [0, size + 1, 0xFFFF_FFFF][random.below(3)] }
        let next = fault == .missing ? 0 : fault == .loop ? first : second
        let filler = [UInt8](repeating: 0x2A, count: gap)
        let one = directory(entries, next: next)
        let two = directory(
            [entry(0x0103, 3, 1, 6), entry(0x0201, 4, 1, place), entry(0x0202, 4, 1, size)],
            // Back to the first one.
            next: random.chance(20) ? first : 0)
        var structure =
            Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(first, 4)
        structure += filler + (isSecondFirst ? two + filler + one : one + filler + two) + filler
        structure += Photo.pixels
        let signature = Array((fault == .noSignature ? "Exit\0\0" : "Exif\0\0").utf8)
        let content = signature + structure
        let segment =
            [0xFF, 0xE1, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)]
            + content
        var whole = Array(Photo.pixels.prefix(2))
        if lead > 0 {
            // As with XMP, which has segments of that kind, too; or bytes that fill.
            var other = Photo.other(lead)
            if random.chance(50) { other[1] = 0xE1 }
            whole += (random.chance(30) ? [0xFF, 0xFF] : []) + other
        }
        if fault == .afterPixels {
            return whole + Photo.pixels.dropFirst(2).dropLast(2) + segment + [0xFF, 0xD9]
        }
        whole += segment
        // The first one counts.
        if isDoubled { whole += [0xFF, 0xE1, 0, 10] + Array("Exif\0\0II".utf8) }
        return whole + Photo.pixels.dropFirst(2)
    }
}
