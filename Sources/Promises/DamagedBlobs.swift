internal import Glibc
internal import Model
internal import SystemCalls

/// The blobs that came from the store with other bytes than their names say, also in earlier mounts.
///
/// A document that is saved with such a content, as from a backup, would find it in the store already, and its
/// bytes here would be let go for those: it is compared with what is there, and replaces it. Any thread.
package final class DamagedBlobs: Sendable {
    /// The most that are remembered: more have a common cause.
    private static let most = 10_000

    private let path: String
    private let known: Lock<Set<ContentHash>>

    /// - Parameter path: of the file that keeps them.
    package init(path: String) {
        self.path = path
        let lines = SmallFile.text(path).split(separator: "\n")
        known = Lock(Set(lines.prefix(Self.most).compactMap { ContentHash(name: $0) }))
    }

    func contains(_ hash: ContentHash) -> Bool { known.withLock { $0.contains(hash) } }

    /// It has come with other bytes.
    func note(_ hash: ContentHash) {
        known.withLock { known in
            guard known.count < Self.most, known.insert(hash).inserted else { return }
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
        known.withLock { known in
            if known.remove(hash) != nil, known.isEmpty { unlink(path) }
        }
    }
}
