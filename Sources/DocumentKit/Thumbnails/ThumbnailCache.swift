internal import Glibc
internal import PathText
internal import SystemCalls
internal import Thumbnailing

/// A thumbnail that was asked for.
public final class ThumbnailRequest: Sendable {
    private let isCancelled = Lock(false)

    /// Nobody waits for it any more: the answer does not come, unless it is on its way.
    public func cancel() { isCancelled.withLock { $0 = true } }

    var isWanted: Bool { isCancelled.withLock { !$0 } }
}

/// Thumbnails of documents, as PNG files.
///
/// In a mounted container those that its daemon draws, waited for if need be; elsewhere those that are in
/// the cache of the desktop (freedesktop.org), which nothing is drawn for. What was read stays in memory,
/// by the document's identity, version and type, so that a picture is never that of another version. Any
/// thread.
public final class ThumbnailCache: Sendable {
    private struct Key: Hashable {
        var document: String
        var pixels: Int
    }
    private struct Order {
        var path: String
        var pixels: Int
        var request: ThumbnailRequest
        var answer: @Sendable ([UInt8]?) -> Void
    }
    private struct State {
        var pictures: [Key: (bytes: [UInt8], lastUse: Int)] = [:]
        var size = 0
        var uses = 0
        var orders: [Order] = []
        var threads = 0
    }
    /// How many thumbnails are waited for at a time.
    private static let threads = 2

    /// Bytes of pictures that are kept in memory.
    public let byteLimit: Int
    private let state = Lock(State())

    /// Keeps so many bytes of pictures.
    public init(byteLimit: Int = 32 << 20) { self.byteLimit = byteLimit }

    /// Bytes of pictures in memory.
    public var byteCount: Int { state.withLock { $0.size } }

    /// Asks for the thumbnail of a file; what was asked for last is answered first.
    ///
    /// - Parameters:
    ///   - pixels: the longest side at most: 128, 256, 512 or 1024; others are taken as the next larger.
    ///   - answer: gets a PNG file, or `nil` if there is none, on a thread of the cache's.
    @discardableResult
    public func thumbnail(
        of path: String, pixels: Int, _ answer: @escaping @Sendable ([UInt8]?) -> Void
    ) -> ThumbnailRequest {
        let request = ThumbnailRequest()
        let pixels = DesktopCache.Size.allCases.map(\.pixels).first { $0 >= pixels } ?? 1024
        let isNew = state.withLock { state in
            state.orders.append(
                Order(path: path, pixels: pixels, request: request, answer: answer))
            if state.threads == Self.threads { return false }
            state.threads += 1
            return true
        }
        if isNew { Threads.start("thumbnails", yielding: true) { self.work() } }
        return request
    }

    private func work() {
        while true {
            let order = state.withLock { state -> Order? in
                if state.orders.isEmpty { state.threads -= 1 }
                return state.orders.popLast()
            }
            guard let order else { return }
            guard order.request.isWanted else { continue }
            let bytes = picture(order)
            if order.request.isWanted { order.answer(bytes) }
        }
    }

    private func picture(_ order: Order) -> [UInt8]? {
        guard let path = MountTable.resolved(order.path), let (name, stamp) = Self.identity(path)
        else { return nil }
        let key = Key(document: name, pixels: order.pixels)
        let kept = state.withLock { state -> [UInt8]? in
            state.uses += 1
            state.pictures[key]?.lastUse = state.uses
            return state.pictures[key]?.bytes
        }
        if let kept { return kept }
        let bytes: [UInt8]?
        if let stamp {
            let size = DesktopCache.Size.allCases.first { $0.pixels == order.pixels } ?? .normal
            bytes = DesktopCache.ofUser?.picture(
                size,
                of: DesktopCache.Subject(path: path, modified: stamp.modifiedTime.seconds))
        } else {
            let request = order.request
            bytes = try? KeptPicture.read(path, pixels: order.pixels) { request.isWanted }
        }
        // Kept only if it is still of that version.
        if let bytes, Self.identity(path)?.name == name { keep(bytes, key) }
        return bytes
    }

    private func keep(_ bytes: [UInt8], _ key: Key) {
        state.withLock { state in
            state.uses += 1
            state.size += bytes.count - (state.pictures[key]?.bytes.count ?? 0)
            state.pictures[key] = (bytes, state.uses)
            while state.size > byteLimit,
                let oldest = state.pictures.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.pictures[oldest.key] = nil
                state.size -= oldest.value.bytes.count
            }
        }
    }

    /// What names the version of a document, and outside of containers its stamp.
    private static func identity(_ path: String) -> (name: String, stamp: FileStamp?)? {
        func attribute(_ name: String) -> String? {
            (try? PathAttributes.value("user.shapeedit." + name, of: path)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        guard let stamp = FileStamp(path: path) else { return nil }
        if let container = attribute("container"), let id = attribute("id"),
            let version = attribute("version")
        {
            // Saved by renaming it has the versions of another file, which are counted from the first again. In an
            // app's mount even that has the same number.
            let content = "\(stamp.inode)-\(version)-\(stamp.modified)"
            // As another type, which the end of the name tells, it looks different.
            let end = path.lastName.split(separator: ".").last ?? ""
            return ("\(container)/\(id)/\(content)/\(end)", nil)
        }
        return ("\(path)\0\(stamp)", stamp)
    }
}
