internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Second names for contents that are drawn. A program of the machine gets a path and looks at it once for
/// each size, and meanwhile the content may be moved among the blobs, or let go for good.
///
/// What is let go here before it has a picture stays under such a name until it is drawn; but not for
/// longer than a while, and no more of it than there is room for. So does, in a folder of its own, what is
/// let go before its words were read. Any thread; waits for the disk.
final class SecondNames: Sendable {
    /// Bytes of contents that stay at most.
    private static let byteLimit: Int64 = 1 << 30

    private struct Content {
        /// What it takes on the disk that nothing else needs, in bytes.
        var bytes: Int64 = 0
        /// Until when it waits, of ``MonotonicClock``; nil while it is drawn.
        var deadline: UInt64?
        /// Let go here, so that this is all there is of it.
        var isLeft = false
    }
    private struct State {
        var contents: [NodeNumber: Content] = [:]
        var bytes: Int64 = 0
        var ended = false
    }
    private let state = Lock(State())
    private let folder: String
    private let limit: Int
    private let patience: UInt64
    private let goesOn: Bool

    /// - Parameters:
    ///   - folder: where the names are.
    ///   - limit: contents that stay at most.
    ///   - seconds: how long a content waits for its turn.
    ///   - goesOn: what waited there when an earlier run ended, or died, waits on; else it goes.
    init(folder: String, limit: Int = 4_096, seconds: UInt64 = 120, goesOn: Bool = false) {
        self.folder = folder
        self.limit = limit
        self.goesOn = goesOn
        patience = seconds * 1_000_000_000
        if goesOn { state.withLock { adopt(&$0) } } else { try? Directories.removeTree(folder) }
    }

    private func adopt(_ state: inout State) {
        for name in (try? Directories.names(in: folder)) ?? [] {
            var status = stat()
            guard let node = ContainerFolder.node(of: name), lstat(path(node).cPath, &status) == 0
            else {
                continue
            }
            let bytes = status.st_nlink > 1 ? 0 : Int64(status.st_size)
            state.bytes += bytes
            state.contents[node] = Content(
                bytes: bytes, deadline: MonotonicClock.now + patience, isLeft: true)
        }
    }

    private func path(_ node: NodeNumber) -> String { folder + "/" + node.fileName }

    /// What is on the disk only for this, in bytes.
    var bytes: UInt64 { state.withLock { UInt64($0.bytes) } }

    /// The versions whose contents wait for their turn.
    var waiting: [NodeNumber] {
        state.withLock { $0.contents.filter { $0.value.deadline != nil }.map(\.key) }
    }

    /// Whether a version's content is here for its picture.
    func holds(_ node: NodeNumber) -> Bool { state.withLock { $0.contents[node] != nil } }

    /// Keeps a content that is about to go until it is drawn, or ``drop(_:)``; false if that cannot be.
    ///
    /// - Parameters:
    ///   - path: its file, which is used for nothing else as long as there is the version.
    ///   - bytes: what it takes on the disk that nothing else needs.
    func keep(_ node: NodeNumber, _ path: String, bytes: Int64) -> Bool {
        state.withLock { state in
            guard !state.ended, state.bytes + bytes <= Self.byteLimit,
                state.contents.count < limit
            else { return false }
            var content = Content(deadline: MonotonicClock.now + patience)
            if let known = state.contents[node] {
                // It is being drawn, or it came and goes once more.
                state.bytes -= known.bytes
                if known.deadline == nil { content.deadline = nil }
            } else if !name(node, path) {
                return false
            }
            content.bytes = bytes
            content.isLeft = true
            state.bytes += bytes
            state.contents[node] = content
            return true
        }
    }

    /// The path of a content that stayed for its picture, which is drawn now; nil if none did.
    func take(_ node: NodeNumber) -> String? {
        state.withLock { state in
            guard state.contents[node] != nil else { return nil }
            state.contents[node]?.deadline = nil
            return path(node)
        }
    }

    /// A path for an open file that is drawn now; nil if there can be none.
    func add(_ node: NodeNumber, _ descriptor: Int32) -> String? {
        state.withLock { state in
            if state.ended { return nil }
            if state.contents[node] == nil {
                guard name(node, "/proc/self/fd/\(descriptor)") else { return nil }
                state.contents[node] = Content()
            }
            state.contents[node]?.deadline = nil
            return path(node)
        }
    }

    /// Gives a file the name of a version's content. Under the lock.
    private func name(_ node: NodeNumber, _ file: String) -> Bool {
        let path = path(node)
        func link() -> Bool { linkat(AT_FDCWD, file, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 }
        if link() { return true }
        guard errno == ENOENT, (try? Directories.make(folder)) != nil else { return false }
        return link()
    }

    /// The content has been drawn, or will not be.
    func drop(_ node: NodeNumber) { state.withLock { drop(node, &$0) } }

    private func drop(_ node: NodeNumber, _ state: inout State) {
        // What is called off at the end is not drawn: the next run does that.
        if state.ended, goesOn, state.contents[node]?.isLeft == true { return }
        guard let content = state.contents.removeValue(forKey: node) else { return }
        state.bytes -= content.bytes
        unlink(path(node).cPath)
    }

    /// Drops what has waited too long to be drawn, or all that waits; says whether that made room.
    func dropWaiting(all: Bool) -> Bool {
        state.withLock { state -> Bool in
            let now = MonotonicClock.now
            var gained = false
            for (node, content) in state.contents {
                guard let deadline = content.deadline, all || deadline < now else { continue }
                if content.bytes > 0 { gained = true }
                drop(node, &state)
            }
            return gained
        }
    }

    /// Takes nothing more. What was let go stays from now on for the next run, if that goes on with it.
    func end() { state.withLock { $0.ended = true } }

    /// Drops all else, when nothing is drawn any more.
    func stop() {
        state.withLock { state in
            state.ended = true
            for node in state.contents.keys { drop(node, &state) }
        }
    }
}
