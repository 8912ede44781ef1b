internal import Model

/// Names that an import has led elsewhere, as long as the kernel has not been told.
///
/// A rename that the kernel asks for meanwhile takes what it has of such a name along to the other one, which is
/// to be forgotten, too. A value: the volume's lock guards it.
struct UntoldNames {
    /// By how many messages each name was led elsewhere.
    private var counts: [ReplayStep.Place: Int] = [:]

    mutating func insert(_ place: ReplayStep.Place) { counts[place, default: 0] += 1 }

    /// The kernel was told of what one message did to the name.
    mutating func remove(_ place: ReplayStep.Place) {
        let left = (counts[place] ?? 1) - 1
        counts[place] = left > 0 ? left : nil
    }

    func contains(_ place: ReplayStep.Place) -> Bool { !counts.isEmpty && counts[place] != nil }
}

extension Volume {
    /// What the kernel has to be told after a message: nodes whose attributes and listings changed, and
    /// names that lead to something else.
    struct Stale: Sendable {
        var nodes: Set<NodeNumber> = []
        private(set) var names: [(parent: UInt64, name: [UInt8])] = []
        /// What those who watch are to be told.
        var steps: [ReplayStep] = []

        mutating func add(_ other: Stale) {
            nodes.formUnion(other.nodes)
            names += other.names
            steps += other.steps
        }

        /// The kernel is to forget what it has of a name, which leads elsewhere now.
        mutating func forget(_ parent: NodeNumber, _ name: [UInt8], _ volume: VolumeState) {
            names.append((parent.rawValue, name))
            nodes.insert(parent)
            volume.untoldNames.insert(ReplayStep.Place(parent: parent.item, name: name))
        }
    }

    /// Has the kernel forget the names that messages of an import led elsewhere, then runs `then`, as
    /// ``forget(names:of:then:)``.
    func forget(_ stale: Stale, then: @escaping @Sendable () -> Void) {
        forget(names: stale.names) { [self] in
            state.withLock { state in
                for (parent, name) in stale.names {
                    let parent = NodeNumber(rawValue: parent).item
                    state.untoldNames.remove(ReplayStep.Place(parent: parent, name: name))
                }
            }
            then()
        }
    }
}
