import Browser
import Drawing
import Glibc
import Pictures
import SystemCalls
import Thumbnailing

/// Gets pictures on a thread of its own, so that keys never wait for them: in a mount those that are
/// kept, elsewhere our documents are drawn by a worker. Who was asked for last is served first, and
/// what is not wanted any more is not looked for.
final class BrowserPictures: Sendable {
    private struct Order: Sendable {
        var version: BrowserVersion
        var size: PixelSize
    }
    private let wanted = Monitor<[Order]>([])

    init(_ tree: BrowsedTree, _ inbox: EventInbox<BrowserEvent>) {
        let wanted = wanted
        Threads.start("pictures") {
            let worker = ThumbnailWorker(program: PictureProgram.path)
            while true {
                let order = wanted.wait { $0.isEmpty ? nil : $0.removeFirst() }
                guard let order else { continue }
                let bytes = Self.bytes(order, tree, worker)
                // What is no picture is looked for again as what is not there yet.
                let bitmap = try? bytes.map { bytes throws(DrawingError) in
                    try Bitmap(png: bytes, side: PictureSize.huge.pixels).fitted(into: order.size)
                }
                let isStandIn = bytes.map { PNGFile.isPlaceholder($0) } ?? false
                inbox.put(
                    .pictured(order.version, order.size, bitmap ?? nil, isStandIn: isStandIn))
            }
        }
    }

    /// These are wanted now, in this order, and no others.
    func want(_ list: [(version: BrowserVersion, size: PixelSize)]) {
        wanted.signal { $0 = list.map { Order(version: $0.version, size: $0.size) } }
    }

    private static func bytes(_ order: Order, _ tree: BrowsedTree, _ worker: ThumbnailWorker)
        -> [UInt8]?
    {
        let side = max(order.size.width, order.size.height)
        if let point = tree.mountPoint {
            let state = try? PathAttributes.value(
                "user.shapeedit.thumbnail.state", of: tree.file(order.version.path))
            let isComing =
                state.map {
                    $0.elementsEqual("pending".utf8) || $0.starts(with: "unavailable".utf8)
                } ?? false
            if isComing { return nil }
            let size = PictureSize.allCases.first { $0.pixels >= side } ?? .large
            let inside = tree.file(order.version.path).dropFirst(point.count)
            return contents("\(point)/.shapeedit/thumbnails/\(size.pixels)\(inside).png")
        }
        guard let type = DrawnType(fileName: order.version.path),
            let file = try? DrawnFile.open(tree.file(order.version.path))
        else { return nil }
        let request = DrawingRequest(
            type: type, size: UInt16(clamping: min(side, PictureSize.huge.pixels)))
        return try? worker.picture(request, descriptor: file.number)
    }

    private static func contents(_ path: String) -> [UInt8]? {
        guard let file = try? OwnedDescriptor.open(path, O_RDONLY) else { return nil }
        return try? WholeFile.read(file, limit: 8 << 20)
    }
}
