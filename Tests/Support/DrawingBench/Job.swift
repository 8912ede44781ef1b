import Documents
import Drawing
import Glibc

/// A picture to be made again and again.
struct Job {
    var name: String
    /// The most CPU time it may take, in milliseconds.
    var budget: Double?
    var size: PixelSize
    /// Made when it is its turn: the largest documents are not all in memory at once.
    var document: () throws -> Picture
    /// How often it is drawn.
    var rounds = 15

    /// All jobs, the ones with budgets first.
    static func all() throws -> [Job] {
        let thumbnail = try PixelSize(width: 834, height: 1024)
        var jobs = SolidKind.allCases.map { kind in
            Job(
                name: kind.name, budget: 25, size: thumbnail,
                document: { .scene(Scene(nodes: [.solid(Solid(shape: SolidShape(kind)))])) })
        }
        let above = Camera(
            position: Vector3(0, 2.4, 2.4), orientation: .target(.zero), fieldOfView: 50)
        let torus = Scene(camera: above, nodes: [.solid(Solid(shape: SolidShape(.torus)))])
        jobs.append(
            Job(name: "torus-near", budget: 25, size: thumbnail, document: { .scene(torus) }))
        let slide = SampleDocuments.slide
        let slideSize = try PixelSize(width: 1024, height: 768)
        for mode in [SlideMode.app, .web] {
            jobs.append(
                Job(
                    name: "slide-\(mode)", budget: 12, size: slideSize,
                    document: { .slide(slide, mode) }))
        }
        jobs.append(
            Job(
                name: "list", budget: 12, size: try PixelSize(width: 512, height: 512),
                document: { .list(SampleDocuments.list, title: "Shopping") }))
        jobs.append(
            Job(name: "scene", size: thumbnail, document: { .scene(SampleDocuments.scene) }))
        jobs.append(
            Job(
                name: "slide-full", size: slideSize,
                document: { .slide(SampleDocuments.fullSlide, .app) }, rounds: 1))
        jobs.append(
            Job(
                name: "slide-keys", size: slideSize,
                document: { .slide(try SampleDocuments.largestSlide(), .app) }, rounds: 1))
        jobs.append(
            Job(
                name: "slide-fonts", size: slideSize,
                document: { .slide(SampleDocuments.manyFonts, .app) }, rounds: 1))
        // Nearly 16 MiB: the most that was ever compressed in one piece.
        let large = try PixelSize(width: 2688, height: 2016)
        jobs.append(
            Job(
                name: "slide-2688", size: large,
                document: { .slide(SampleDocuments.manyFonts, .app) }, rounds: 1))
        let largest = try PixelSize(width: PictureLimits.side, height: PictureLimits.side)
        jobs.append(
            Job(name: "slide-8192", size: largest, document: { .slide(slide, .app) }, rounds: 1))
        return jobs
    }

    /// What was measured.
    struct Result {
        var milliseconds: Double
        var bytes: [UInt8]
        var size: PixelSize

        func line(of job: Job) -> String {
            func padded(_ text: String, _ width: Int) -> String {
                String(repeating: " ", count: max(0, width - text.count)) + text
            }
            let tenths = (milliseconds * 10).rounded() / 10
            let name = job.name + padded("", 14 - job.name.count)
            let budget = job.budget.map { "of \(Int($0)) ms" } ?? "ms"
            return "\(name)\(padded("\(tenths)", 8)) \(budget)  "
                + "\(size.width) x \(size.height), \(bytes.count) bytes"
        }
    }

    /// The median of all rounds but the first, which also loads fonts.
    func measure() throws -> Result {
        let picture = try document()
        var times: [Double] = []
        var bytes: [UInt8] = []
        for _ in 0...rounds {
            let start = Job.processorTime()
            bytes = try picture.png(fitting: size)
            times.append(Job.processorTime() - start)
        }
        times.removeFirst()
        return Result(
            milliseconds: times.sorted()[times.count / 2], bytes: bytes,
            size: picture.size(fitting: size))
    }

    /// CPU time of the process, in milliseconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}
