internal import Model
internal import Pictures
internal import SystemCalls

/// Pictures of contents that are not published yet: drawn at a close, shown with the version.
///
/// Only in memory: a content that is still open may change after it was drawn, and recovery after a
/// crash may publish another state of it. The picture goes to the disk once it is a version's.
///
/// Any thread; may be asked under the volume's lock, and takes the locks of shelf and queue.
final class StagedPictures: Sendable {
    /// Bytes that are held at most for sessions that do not end.
    private static let byteLimit = 16 << 20
    /// Publishes whose pictures are awaited at most.
    private static let awaitedLimit = 4_096

    /// What becomes of a drawing's outcome.
    enum Place {
        /// It waits for the publish.
        case session
        /// Its version is published: it is to be kept.
        case version
    }

    private struct Drawn {
        var stamp: ContentStamp
        var type: PictureType
        var file: [UInt8]
    }
    private struct State {
        var drawn = Recent<NodeNumber, Drawn>(limit: byteLimit)
        /// Versions that were published while they were drawn, as they were at the publish.
        var awaited = Recent<NodeNumber, ContentStamp>(limit: awaitedLimit)
    }
    private let state = Lock(State())

    /// Whether the session's content is drawn as it is now.
    func has(_ node: NodeNumber, _ type: PictureType, _ stamp: ContentStamp) -> Bool {
        state.withLock { state in
            guard let drawn = state.drawn[node] else { return false }
            return drawn.stamp == stamp && drawn.type == type
        }
    }

    /// Takes what was drawn of a session's content, or says that it is a version's by now.
    func keep(_ file: [UInt8], of order: PictureOrder, _ stamp: ContentStamp) -> Place {
        state.withLock { state in
            if state.awaited[order.node] == stamp {
                state.awaited.remove(order.node)
                return .version
            }
            state.drawn.insert(
                Drawn(stamp: stamp, type: order.type, file: file), for: order.node,
                weight: file.count)
            return .session
        }
    }

    /// The session's content becomes a version, as `stamp` has it: if that was drawn it is shown
    /// from now on. Under the volume's lock.
    func publish(
        _ node: NodeNumber, _ stamp: ContentStamp, on shelf: PictureShelf, isComing: () -> Bool
    ) {
        state.withLock { state in
            defer { state.drawn.remove(node) }
            if let drawn = state.drawn[node], drawn.stamp == stamp {
                shelf.show(drawn.file, for: node)
            } else if isComing() {
                state.awaited.insert(stamp, for: node, weight: 1)
            }
        }
    }

    /// The state of a published version that is still drawn as it was staged; nil for others.
    func awaited(_ node: NodeNumber) -> ContentStamp? { state.withLock { $0.awaited[node] } }

    /// The session ends without a version.
    func discard(_ node: NodeNumber) { state.withLock { $0.drawn.remove(node) } }
}
