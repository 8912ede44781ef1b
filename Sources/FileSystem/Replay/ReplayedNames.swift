internal import Model
internal import Synchronization
internal import SystemCalls

/// The names that steps are about from when the change was made until it is told.
///
/// What anybody finds there meanwhile the kernel must not keep: it would take the step's call for one about
/// that, or refuse the call without asking, and nobody would be told of the change. Any thread.
final class ReplayedNames: Sendable {
    /// How many steps each name waits for.
    private let counts = Lock<[ReplayStep.Place: Int]>([:])
    private let isAny = Atomic<Bool>(false)

    func note(_ steps: [ReplayStep]) {
        if steps.isEmpty { return }
        counts.withLock { counts in
            for place in steps.lazy.flatMap(\.places) { counts[place, default: 0] += 1 }
            isAny.store(true, ordering: .releasing)
        }
    }

    /// The steps are told, or are not to be.
    func end(_ steps: [ReplayStep]) {
        if steps.isEmpty { return }
        counts.withLock { counts in
            for place in steps.lazy.flatMap(\.places) {
                guard let count = counts[place] else { continue }
                counts[place] = count > 1 ? count - 1 : nil
            }
            isAny.store(!counts.isEmpty, ordering: .releasing)
        }
    }

    /// Whether a step is about a name. One load while there are none.
    @inline(__always)
    func has(_ parent: NodeNumber, _ name: UnsafeRawBufferPointer) -> Bool {
        if !isAny.load(ordering: .acquiring) { return false }
        let place = ReplayStep.Place(parent: parent.item, name: Array(name))
        return counts.withLock { $0[place] != nil }
    }
}
