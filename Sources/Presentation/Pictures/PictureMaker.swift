internal import Glibc
internal import PathText
internal import SystemCalls
package import Thumbnailing

/// Has documents drawn by other processes: ours, or those of the machine. Nothing is decoded here.
///
/// Any thread; calls take as long as the drawing, which is bounded.
package final class PictureMaker: Sendable {
    /// A larger picture is none.
    private static let pictureBytes = 5 << 20
    /// Ends of names of which it is remembered whether a foreign program draws them.
    private static let rememberedEnds = 1_024
    /// How long foreign programs are left alone after their sandbox did not work, in nanoseconds.
    package static let usualPause: UInt64 = 30_000_000_000
    /// How long those that were found count as installed without another look, in nanoseconds.
    package static let usualTrust: UInt64 = 2_000_000_000

    private struct Foreign {
        /// Those of the machine, in a sandbox that works as far as is known; nil as long as they were
        /// not looked for, and when it does not.
        var programs: ForeignThumbnailers?
        /// What was installed when they were looked for, and until when that is believed.
        var installation: ForeignThumbnailers.Installation?
        var trustedUntil: UInt64 = 0
        /// Why they were of no use the last time.
        var problem: String?
        /// Until when they are not looked for again.
        var pausedUntil: UInt64 = 0
        /// Whether there is a program, by the last two ends of names: of all that ends in `.gz` only
        /// `.svg.gz` may be drawn.
        var drawn = Recent<String, Bool>(limit: rememberedEnds)
    }
    /// The path of `shapeedit-thumbnailer`.
    let program: String
    private let foreign = Lock(Foreign())
    private let pause: UInt64
    private let trust: UInt64
    private let wallLimit: UInt64

    /// - Parameters:
    ///   - pause: how long foreign programs are left alone after their sandbox did not work.
    ///   - trust: how long those that were found count as installed without another look.
    ///   - wallLimit: what drawing one picture may take, in milliseconds.
    package init(
        program: String, pause: UInt64 = usualPause, trust: UInt64 = usualTrust,
        wallLimit: UInt64 = ThumbnailWorker.wallLimit
    ) {
        self.program = program
        self.wallLimit = wallLimit
        self.pause = pause
        self.trust = trust
    }

    /// A worker of ours to draw with.
    ///
    /// - Parameter niceness: how much its process stands back for others, as nice(1) has it.
    package func worker(niceness: Int32) -> ThumbnailWorker {
        ThumbnailWorker(program: program, wallLimit: wallLimit, niceness: niceness)
    }

    /// Why our own documents are not drawn, as far as can be told without trying.
    package var ownProblem: String? {
        access(program.cPath, X_OK) == 0 ? nil : "\(program): \(Errno.last)"
    }

    /// Why others are not drawn, as far as can be told without trying: why they were not the last time.
    package var foreignProblem: String? {
        let (isKnown, problem) = foreign.withLock { ($0.programs != nil, $0.problem) }
        return isKnown ? nil : problem ?? ForeignThumbnailers.missingProgram
    }

    /// Whether there is anything to draw a type; yes, as long as the machine's programs were not looked
    /// for, and when it is time to try their sandbox again.
    ///
    /// - Parameter fileName: of the document.
    package func canDraw(_ type: PictureType, fileName: @autoclosure () -> String) -> Bool {
        if type.isOwn { return true }
        if type.end.isEmpty { return false }
        return foreign.withLock { foreign in
            forgetChanged(&foreign)
            guard let programs = foreign.programs else {
                return foreign.problem == nil || MonotonicClock.now >= foreign.pausedUntil
            }
            let name = fileName()
            let ends = name.split(separator: ".").dropFirst().suffix(2).joined(separator: ".")
            if let known = foreign.drawn[ends] { return known }
            let isDrawn = programs.canDraw(fileName: name)
            foreign.drawn.insert(isDrawn, for: ends, weight: 1)
            return isDrawn
        }
    }

    /// The pictures in the order's sizes, but for those for which there was no time; of a photo that is not
    /// here only the smallest.
    package func pictures(
        of order: PictureOrder, _ input: PictureInput, by worker: ThumbnailWorker,
        _ cancellation: Cancellation?
    ) throws(ThumbnailFailure) -> [PictureSize: [UInt8]] {
        if case .photo(let photo) = input {
            return [.small: try preview(in: photo, order.type, by: worker, cancellation)]
        }
        var pictures: [PictureSize: [UInt8]] = [:]
        if let type = order.type.drawn {
            for size in order.sizes {
                let bytes = try Self.draw(type, size, input, by: worker, cancellation)
                pictures[size] = try Self.checked(bytes, size)
            }
            return pictures
        }
        guard case .file(_, let path) = input else { throw .unavailable("it has no file") }
        let programs = try programs(thatDraw: order.fileName, order.type)
        var largest: [UInt8]?
        for size in order.sizes.sorted() {
            do throws(ThumbnailFailure) {
                let bytes = try inSandbox(size.pixels, worker, cancellation) {
                    () throws(ThumbnailFailure) in
                    try programs.picture(
                        ofFileAt: path, fileName: order.fileName, size: size.pixels,
                        wallLimit: wallLimit, cancellation: cancellation)
                }
                pictures[size] = try Self.checked(bytes, size)
                largest = pictures[size]
            } catch {
                guard let largest, error.isOfDocument else { throw error }
                // The machine may have had too much to do: these are tried again.
                if error.isTimeout { break }
                // What takes too much in this size takes more in the next: those are shown the last one.
                for size in order.sizes where pictures[size] == nil { pictures[size] = largest }
                break
            }
        }
        return pictures
    }

    /// The smallest picture of a photo, made of the preview in it: one process finds that, another one
    /// draws it.
    private func preview(
        in photo: DistantPhoto, _ type: PictureType, by worker: ThumbnailWorker,
        _ cancellation: Cancellation?
    ) throws(ThumbnailFailure) -> [UInt8] {
        let fileName = "preview." + type.end
        let programs = try programs(thatDraw: fileName, type)
        let preview = try worker.preview(
            inPhotoOf: photo.size, cancellation: cancellation, read: photo.read)
        let pixels = PictureSize.small.pixels
        let bytes = try inSandbox(pixels, worker, cancellation) { () throws(ThumbnailFailure) in
            try programs.picture(
                of: preview.bytes, fileName: fileName, size: pixels, wallLimit: wallLimit,
                cancellation: cancellation)
        }
        guard preview.width > 0, preview.height > 0 else {
            return try Self.checked(bytes, .small)
        }
        let photo = try worker.fitted(
            bytes, size: UInt16(pixels), width: preview.width, height: preview.height,
            cancellation: cancellation)
        return try Self.checked(photo, .small)
    }

    /// Draws by one of the machine's programs. If their sandbox fails, it is tried again after a while.
    ///
    /// Many of them take the size for the width of a page, or take out a picture that a document has in it as it
    /// is: the worker makes that one of the size and the kind that is kept.
    private func inSandbox(
        _ pixels: Int, _ worker: ThumbnailWorker, _ cancellation: Cancellation?,
        _ body: () throws(ThumbnailFailure) -> [UInt8]
    ) throws(ThumbnailFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(ThumbnailFailure) { bytes = try body() } catch {
            if case .unavailable(let problem) = error { note(problem) }
            throw error
        }
        if let file = PNGFile(bytes), max(file.width, file.height) <= pixels {
            return file.bytes()
        }
        return try worker.fitted(bytes, size: UInt16(pixels), cancellation: cancellation)
    }

    /// The machine's programs, if one of them draws files of this name.
    private func programs(thatDraw fileName: String, _ type: PictureType)
        throws(ThumbnailFailure) -> ForeignThumbnailers
    {
        let programs = try programs()
        if !programs.canDraw(fileName: fileName) {
            throw .unavailable("nothing draws .\(type.end)")
        }
        return programs
    }

    /// One picture of any file, in any size up to 1,024 pixels, without a worker that is kept.
    ///
    /// - Parameter descriptor: the file, open for reading; it stays the caller's.
    package func picture(
        ofFileAt path: String, fileName: String, descriptor: Int32, pixels: Int
    ) throws(ThumbnailFailure) -> [UInt8] {
        let worker = ThumbnailWorker(program: program)
        defer { worker.stop() }
        if let type = DrawnType(fileName: fileName) {
            return try worker.picture(
                DrawingRequest(type: type, size: UInt16(pixels)), descriptor: descriptor)
        }
        let programs = try programs()
        return try inSandbox(pixels, worker, nil) { () throws(ThumbnailFailure) in
            try programs.picture(ofFileAt: path, fileName: fileName, size: pixels)
        }
    }

    private static func draw(
        _ type: DrawnType, _ size: PictureSize, _ input: PictureInput, by worker: ThumbnailWorker,
        _ cancellation: Cancellation?
    ) throws(ThumbnailFailure) -> [UInt8] {
        var request = DrawingRequest(type: type, size: UInt16(size.pixels))
        switch input {
        case .bytes(let bytes):
            request.bytes = bytes
            return try worker.picture(request, cancellation: cancellation)
        case .file(let file, _):
            return try worker.picture(
                request, descriptor: file.number, cancellation: cancellation)
        case .photo, .pictures: throw .unavailable("there is no content to draw")
        }
    }

    /// Whether a file of pictures that was made elsewhere can be shown.
    package static func accepts(_ file: [UInt8], as type: PictureType) -> Bool {
        let head = PictureFile(file)
        guard let head, head.type == type, head.failure == nil else { return false }
        return head.places.allSatisfy { size, place in
            (try? checked(Array(file[place]), size)) != nil
        }
    }

    /// Who drew a hostile document may be its creature.
    private static func checked(_ bytes: [UInt8], _ size: PictureSize) throws(ThumbnailFailure)
        -> [UInt8]
    {
        guard bytes.count <= pictureBytes, let file = PNGFile(bytes), file.width <= size.pixels,
            file.height <= size.pixels
        else { throw .died("something that is no picture") }
        return bytes
    }

    private func programs() throws(ThumbnailFailure) -> ForeignThumbnailers {
        let (known, problem) = foreign.withLock { foreign in
            forgetChanged(&foreign)
            let isPaused = MonotonicClock.now < foreign.pausedUntil
            return (foreign.programs, isPaused ? foreign.problem : nil)
        }
        if let known { return known }
        if let problem { throw .unavailable(problem) }
        // Reads files and tries the sandbox: not under the lock.
        let installation = ForeignThumbnailers.Installation()
        let found = ForeignThumbnailers()
        if let problem = found.unavailability {
            note(problem)
            throw .unavailable(problem)
        }
        foreign.withLock { foreign in
            foreign.programs = found
            foreign.installation = installation
            foreign.trustedUntil = MonotonicClock.now + trust
            foreign.drawn = Recent(limit: Self.rememberedEnds)
        }
        return found
    }

    /// Programs that were installed since, or removed: they are looked for again.
    private func forgetChanged(_ foreign: inout Foreign) {
        guard foreign.programs != nil, MonotonicClock.now >= foreign.trustedUntil else { return }
        if foreign.installation != ForeignThumbnailers.Installation() {
            foreign.programs = nil
            foreign.problem = nil
        }
        foreign.trustedUntil = MonotonicClock.now + trust
    }

    /// The machine's programs cannot be run now.
    private func note(_ problem: String) {
        foreign.withLock { foreign in
            foreign.programs = nil
            foreign.problem = problem
            foreign.pausedUntil = MonotonicClock.now + pause
        }
    }
}
