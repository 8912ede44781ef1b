package import Model
package import SystemCalls

/// An open file that several threads may use; closed when the last of them lets go.
package final class SharedDescriptor: Sendable {
    private let owned: OwnedDescriptor

    package init(_ descriptor: consuming OwnedDescriptor) { owned = descriptor }

    package var number: Int32 { owned.number }

    package func status() throws(Errno) -> FileStatus { FileStatus(try owned.status()) }

    package func with<Result>(
        _ body: (borrowing OwnedDescriptor) throws(Errno) -> Result
    ) throws(Errno) -> Result { try body(owned) }
}

/// Open files of recently used contents, so that the daemon needs few descriptors however many
/// files are open through the mount. Any thread.
package final class DescriptorCache: Sendable {
    /// Descriptors kept.
    private static let limit = Descriptors.share

    private struct Entry {
        let descriptor: SharedDescriptor
        var used: UInt64
    }
    private struct State {
        var entries: [NodeNumber: Entry] = [:]
        var clock: UInt64 = 0
    }
    private let state = Lock(State())

    package init() {}

    package func find(_ node: NodeNumber) -> SharedDescriptor? {
        state.withLock { state in
            guard let index = state.entries.index(forKey: node) else { return nil }
            state.clock += 1
            state.entries.values[index].used = state.clock
            return state.entries.values[index].descriptor
        }
    }

    package func insert(_ descriptor: SharedDescriptor, for node: NodeNumber) {
        // Closing may take a while: let the removed ones go after the lock.
        let removed = state.withLock { state -> [SharedDescriptor] in
            state.clock += 1
            state.entries[node] = Entry(descriptor: descriptor, used: state.clock)
            if state.entries.count <= Self.limit { return [] }
            let oldest = state.entries.sorted { $0.value.used < $1.value.used }
                .prefix(Self.limit / 4)
            return oldest.compactMap { state.entries.removeValue(forKey: $0.key)?.descriptor }
        }
        withExtendedLifetime(removed) {}
    }

    package func remove(_ node: NodeNumber) {
        let removed = state.withLock { $0.entries.removeValue(forKey: node) }
        withExtendedLifetime(removed) {}
    }
}
