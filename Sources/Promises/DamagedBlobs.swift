internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The blobs that came from the store with other bytes than their names say, also in earlier mounts.
///
/// A document that is saved with such a content, as from a backup, would find it in the store already, and its
/// bytes here would be let go for those: it is compared with what is there, and replaces it. Any thread.
package final class DamagedBlobs: Sendable {
    /// The most that are remembered: more have a common cause.
    private static let most = 10_000

    private let path: String
    private struct State {
        var known: Set<ContentHash> = []
        /// Whether what earlier mounts have left is among them: the disk may not give it for a moment.
        var isRead = false
    }
    private let state = Lock(State())

    /// - Parameter path: of the file that keeps them.
    package init(path: String) {
        self.path = path
        state.withLock { read(&$0) }
    }

    private func read(_ state: inout State) {
        if state.isRead { return }
        guard let text = try? SmallFile.text(path) else { return }
        let lines = text.split(separator: "\n")
        state.known.formUnion(lines.prefix(Self.most).compactMap { ContentHash(name: $0) })
        state.isRead = true
    }

    /// Whether it may be one of them.
    func contains(_ hash: ContentHash) -> Bool {
        state.withLock { state in
            read(&state)
            return !state.isRead || state.known.contains(hash)
        }
    }

    /// It has come with other bytes.
    func note(_ hash: ContentHash) {
        state.withLock { state in
            guard state.known.count < Self.most, state.known.insert(hash).inserted else { return }
            // What cannot be kept counts as long as this process lives.
            try? append("\(hash)\n")
        }
    }

    private func append(_ line: String) throws(Errno) {
        let file = try OwnedDescriptor.openOwn(path, O_WRONLY)
        try file.write(Array(line.utf8), at: Int64(file.status().st_size))
    }

    /// It has come as it should be. The file goes with the last one: one too many is compared once more.
    func forget(_ hash: ContentHash) {
        state.withLock { state in
            read(&state)
            if state.known.remove(hash) != nil, state.known.isEmpty, state.isRead {
                unlink(path.cPath)
            }
        }
    }
}
