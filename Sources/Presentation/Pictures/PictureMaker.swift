internal import Glibc
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

    private struct Foreign {
        var programs: ForeignThumbnailers?
        /// Whether there is a program, by the last two ends of names: of all that ends in `.gz` only
        /// `.svg.gz` may be drawn.
        var drawn = Recent<String, Bool>(limit: rememberedEnds)
    }
    /// The path of `shapeedit-thumbnailer`.
    let program: String
    private let foreign = Lock(Foreign())

    package init(program: String) { self.program = program }

    /// Why our own documents are not drawn, as far as can be told without trying.
    package var ownProblem: String? {
        access(program, X_OK) == 0 ? nil : "\(program): \(Errno.last)"
    }

    /// Why others are not drawn, as far as can be told without trying.
    package var foreignProblem: String? {
        foreign.withLock { $0.programs }.map(\.unavailability)
            ?? ForeignThumbnailers.missingProgram
    }

    /// Whether there is anything to draw a type; yes, as long as the machine's programs were not looked
    /// for.
    ///
    /// - Parameter fileName: of the document.
    package func canDraw(_ type: PictureType, fileName: @autoclosure () -> String) -> Bool {
        if type.isOwn { return true }
        if type.end.isEmpty { return false }
        return foreign.withLock { foreign in
            guard let programs = foreign.programs else { return true }
            if programs.unavailability != nil { return false }
            let name = fileName()
            let ends = name.split(separator: ".").dropFirst().suffix(2).joined(separator: ".")
            if let known = foreign.drawn[ends] { return known }
            let isDrawn = programs.canDraw(fileName: name)
            foreign.drawn.insert(isDrawn, for: ends, weight: 1)
            return isDrawn
        }
    }

    /// The pictures in the order's sizes; of a photo that is not here only the smallest.
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
        for size in order.sizes {
            let bytes = try programs.picture(
                ofFileAt: path, fileName: order.fileName, size: size.pixels,
                cancellation: cancellation)
            pictures[size] = try Self.checked(bytes, size)
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
        let bytes = try programs.picture(
            of: preview, fileName: fileName, size: PictureSize.small.pixels,
            cancellation: cancellation)
        return try Self.checked(bytes, .small)
    }

    /// The machine's programs, if one of them draws files of this name.
    private func programs(thatDraw fileName: String, _ type: PictureType)
        throws(ThumbnailFailure) -> ForeignThumbnailers
    {
        let programs = programs()
        if let problem = programs.unavailability { throw .unavailable(problem) }
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
        if let type = DrawnType(fileName: fileName) {
            let worker = ThumbnailWorker(program: program)
            defer { worker.stop() }
            return try worker.picture(
                DrawingRequest(type: type, size: UInt16(pixels)), descriptor: descriptor)
        }
        return try programs().picture(ofFileAt: path, fileName: fileName, size: pixels)
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

    private func programs() -> ForeignThumbnailers {
        if let known = foreign.withLock({ $0.programs }) { return known }
        // Reads files and tries the sandbox: not under the lock.
        let found = ForeignThumbnailers()
        return foreign.withLock { foreign in
            foreign.programs = foreign.programs ?? found
            return foreign.programs ?? found
        }
    }
}
