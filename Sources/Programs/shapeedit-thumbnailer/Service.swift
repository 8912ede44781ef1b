import CWorkerShim
import Documents
import Drawing
import Glibc
import SystemCalls
import Thumbnailing

/// Draws what comes over a socket until the other side closes it.
enum Service {
    /// After so many milliseconds without a request memory goes back to the system.
    private static let idleTime: UInt64 = 250

    static func run(over socket: Int32) throws(WorkerChannel.Failure) {
        // While it is stopped it would not see its socket closed.
        _ = shim_end_with_starter()
        let channel = WorkerChannel(OwnedDescriptor(adopting: socket))
        // Before anything is given up. Where one is missing, the warming up says so and ends here.
        _ = DrawingLibraries.load()
        let confinement = Lockdown.confine()
        warmUp()
        Memory.serveLargeBlocks()
        try channel.send(WorkerReply.hello(confinement).message)
        do throws(WorkerChannel.Failure) {
            while true {
                // Not after each picture: the next one takes the same memory.
                if try channel.isQuiet(for: idleTime) { Memory.trim() }
                let received = try channel.receive(limit: DrawingRequest.messageBytes)
                try channel.send(answer(received).message)
            }
        } catch {
            // The end of the work, as it is meant.
            if error != .closed { throw error }
        }
    }

    private static func answer(_ received: Received) -> WorkerReply {
        if let request = PreviewRequest(message: received.message) {
            return preview(request)
        }
        _ = shim_processor_limit(Lockdown.processorSeconds)
        defer { _ = shim_processor_limit(0) }
        do throws(Rendering.Problem) {
            if let request = TextRequest(message: received.message) {
                return .text(try Reading.text(request, received.descriptor))
            }
            if let request = FittingRequest(message: received.message) {
                return .picture(
                    try Rendering.fitted(
                        request.picture, size: Int(request.size), width: request.width,
                        height: request.height))
            }
            guard let request = DrawingRequest(message: received.message) else {
                return .refusal("the request cannot be read")
            }
            let bytes: [UInt8]
            if let sent = request.bytes {
                bytes = sent
            } else {
                bytes = try DocumentInput.bytes(
                    of: received.descriptor, part: Rendering.part(of: request.type))
            }
            let picture = try Rendering.png(
                bytes, type: request.type, size: Int(request.size), title: request.title)
            guard picture.count < WorkerReply.messageBytes else {
                return .refusal("the picture is too large")
            }
            return .picture(picture)
        } catch {
            return .refusal(error.description)
        }
    }

    private static func preview(_ request: PreviewRequest) -> WorkerReply {
        let photo = PhotoParts(
            size: request.size, request.parts.map { PhotoParts.Part(at: $0.place, $0.bytes) })
        do throws(PhotoParts.Missing) {
            guard let preview = try EmbeddedPreview.find(in: photo) else {
                return .refusal("it has no preview where it begins")
            }
            return .preview(
                .found(
                    PhotoPreview(
                        bytes: preview.bytes, width: preview.width, height: preview.height)))
        } catch {
            return .preview(.wanted(error.range))
        }
    }

    /// Loads the fonts, which takes longer than most pictures.
    private static func warmUp() {
        _ = try? Rendering.png(Array("Warm".utf8), type: .text, size: 64, title: "")
    }
}
