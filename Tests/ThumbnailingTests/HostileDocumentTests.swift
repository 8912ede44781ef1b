import Glibc
import Probing
import TestSupport
import Testing
import Thumbnailing

/// Documents that mean harm, drawn by real workers.
@Suite(.serialized) struct HostileDocumentTests {
    private let worker = ThumbnailWorker(program: Surroundings.program)

    @Test func `broken samples are refused with a reason and the worker lives`() throws {
        for name in [
            "bomb.plist", "bad-cycle.list", "deep.json", "nan.shapeFile", "huge-count.plist",
        ] {
            for type in DrawnType.allCases where type != .text && type != .markdown {
                let request = DrawingRequest(
                    type: type, size: 256, bytes: try Surroundings.sample(name))
                let problem = #expect(throws: ThumbnailFailure.self) { try worker.picture(request) }
                guard case .refused(let reason) = problem else {
                    Issue.record("\(name) as \(type): \(problem as Any)")
                    continue
                }
                #expect(!reason.isEmpty)
            }
        }
        #expect(worker.starts == 1)
    }

    @Test func `a bomb costs one failure and bounded time`() throws {
        // 10,000 huge torus rings over each other, and a slide painted over and over.
        let ring = #"{"type":"torus","transform":{"scale":[1000,1000,1000]}}"#
        let scene =
            #"{"version":1,"nodes":["#
            + Array(repeating: ring, count: 10_000)
            .joined(separator: ",") + "]}"
        let box = #"{"type":"rectangle","origin":{"x":0,"y":0},"width":5000,"height":5000}"#
        let slide =
            #"{"elements":["# + Array(repeating: box, count: 50_000).joined(separator: ",")
            + "]}"
        let zeros = [UInt8](repeating: 0, count: DrawingRequest.documentBytes)
        let start = ContinuousClock.now
        for (type, bytes) in [
            (DrawnType.shape, Array(scene.utf8)), (.slide, Array(slide.utf8)), (.text, zeros),
            (.slide, [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)),
        ] {
            // Some are drawn and some fail; either way there is an end and the next one is served.
            _ = try? worker.picture(DrawingRequest(type: type, size: 1_024, bytes: bytes))
        }
        // Each of the four may take its limit.
        #expect(ContinuousClock.now - start < .seconds(4 * 15 + 30))
        let sound = DrawingRequest(type: .text, size: 128, bytes: Array("Sound".utf8))
        #expect(PNGFile(try worker.picture(sound)) != nil)
    }

    @Test func `mutated documents never cost more than themselves`() throws {
        var generator = SplitMix(seed: Seed.next("mutated documents of workers"))
        let names: [(type: DrawnType, name: String)] = [
            (.shape, "three.shape"), (.shapeFile, "torus.shapeFile"), (.slide, "eight.slide"),
            (.list, "groceries.list"), (.markdown, "tasks.txt"),
        ]
        let samples = try names.map { ($0.type, try Surroundings.sample($0.name)) }
        for round in 0..<10_000 {
            let (type, sample) = samples[round % samples.count]
            var bytes = sample
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            do throws(ThumbnailFailure) {
                _ = try worker.picture(DrawingRequest(type: type, size: 64, bytes: bytes))
            } catch {
                if case .refused = error { continue }
                Issue.record("\(type): \(error): \(bytes)")
            }
        }
        #expect(worker.starts == 1)
    }

    @Test func `too large documents are refused`() throws {
        let path = try TemporaryFolder()
        let name = path.path + "/large.txt"
        #expect(try Surroundings.run("truncate -s 17M '\(name)'").code == 0)
        let descriptor = open(name, O_RDONLY)
        defer { close(descriptor) }
        let request = DrawingRequest(type: .text, size: 128)
        #expect(throws: ThumbnailFailure.self) {
            try worker.picture(request, descriptor: descriptor)
        }
        #expect(worker.starts == 1)
    }
}
