import Glibc
import Model
import Stores
import SystemCalls

/// Sends what a source lists to the daemon in parts: soon at first, so that something can be seen, and
/// as many at once as a message holds.
struct ImportStream {
    /// Bytes of a message; an attribute holds 64 KiB.
    static let messageSize = 60_000
    /// What was listed is shown after this at the latest, in nanoseconds.
    private static let patience: UInt64 = 100_000_000

    private let target: ImportTarget
    private var progress: ProgressLine
    private var fields: [[UInt8]] = []
    private var size = 0
    private var count = 0
    private var sentAt: UInt64 = 0
    /// What the daemon said, if it was the daemon that ended it.
    private(set) var failure: Failure?

    init(_ target: ImportTarget, json: Bool) {
        self.target = target
        progress = ProgressLine(json: json)
    }

    mutating func add(_ entry: SourceEntry) throws(StoreError) {
        let added = Self.fields(entry)
        let addedSize = added.reduce(0) { $0 + $1.count + 1 }
        if size + addedSize > Self.messageSize { try send() }
        fields += added
        size += addedSize
        count += 1
        if MonotonicClock.now - sentAt > Self.patience { try send() }
    }

    mutating func finish() throws(StoreError) { try send() }

    private mutating func send() throws(StoreError) {
        if !fields.isEmpty {
            do throws(Failure) { try target.take(fields) } catch {
                failure = error
                throw StoreError(.cancelled, at: target.path, error.message)
            }
        }
        fields = []
        size = 0
        sentAt = MonotonicClock.now
        show()
    }

    private mutating func show() {
        guard progress.isDue() else { return }
        progress.show([("listed", String(count))], "\(count) listed", percent: nil)
    }

    /// Takes the progress away.
    mutating func endProgress() { progress.end() }

    /// What the user wants to be closed to others.
    private static let mask: mode_t = {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }()

    private static func fields(_ entry: SourceEntry) -> [[UInt8]] {
        func text(_ value: some CustomStringConvertible) -> [UInt8] {
            Array(value.description.utf8)
        }
        var kind = "d"
        var size: Int64 = 0
        var link: [UInt8] = []
        switch entry.kind {
        case .folder: break
        case .file(let bytes):
            kind = "f"
            size = bytes
        case .symlink(let target):
            kind = "l"
            link = target
        }
        let usual = (entry.kind == .folder ? 0o777 : 0o666) & ~mask
        return [
            text(kind), entry.path, entry.identity, entry.tag, text(size),
            entry.modified.map { text($0.seconds) } ?? [], text(entry.modified?.nanoseconds ?? 0),
            text(entry.mode ?? usual), link,
        ]
    }
}
