internal import Catalog
internal import Coordination
internal import Model

/// How the mounts of applications learn that documents granted to them have changed, and keep nothing
/// open here that would make this mount busy: each watches a file, its *bell*, with inotify(7). To ring
/// it is to have the kernel delete it; who looks again finds the next one.
///
/// Guarded by the volume's lock.
struct GrantBells {
    /// How often the bell of an application has rung.
    private var rung: [String: UInt64] = [:]
    /// Applications that have looked for their bell since it rang last.
    private var hanging: Set<String> = []
    /// Has the kernel delete the bell of an application with this number, later and elsewhere.
    var ringer: (@Sendable (String, UInt64) -> Void)?

    /// Whether nobody listens.
    var isSilent: Bool { hanging.isEmpty }

    /// Hangs the bell of an application up; its number.
    mutating func hang(for application: String) -> UInt64 {
        hanging.insert(application)
        return rung[application, default: 0]
    }

    /// Whether the bell of an application with this number has not rung.
    func hangs(_ application: String, _ number: UInt64) -> Bool {
        hanging.contains(application) && rung[application, default: 0] == number
    }

    /// Rings for an application, if that listens.
    mutating func ring(for application: String) {
        guard hanging.remove(application) != nil else { return }
        let number = rung[application, default: 0]
        rung[application] = number + 1
        ringer?(application, number)
    }

    /// Rings for all that listen.
    mutating func ringAll() { for application in hanging { ring(for: application) } }
}

extension VolumeState {
    /// Rings for those to whom documents are granted that a change is about.
    @inline(__always)
    func followGrants(_ kind: ChangeKind, _ position: MemoryIndex.Position, _ effects: [Effect]) {
        if !bells.isSilent { ringBells(kind, position, effects) }
    }

    @inline(never)
    private func ringBells(
        _ kind: ChangeKind, _ position: MemoryIndex.Position, _ effects: [Effect]
    ) {
        guard kind.concernsQueries else { return }
        var documents = [DocumentID(rawValue: index[item: position].pointee.document)]
        // What was replaced.
        for case .putItem(let row) in effects { documents.append(row.document) }
        let now = Self.now()
        for document in documents {
            for row in grants.live(of: document, at: now) { bells.ring(for: row.application) }
        }
    }
}
