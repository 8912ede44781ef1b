internal import Model

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
            volume.untoldNames.add(ReplayStep.Place(parent: parent.item, name: name))
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

extension VolumeState {
    /// Names under which the kernel has something else than there is, once it has renamed: it takes what it has of
    /// a name along to the other one. None but while it is to be told what an import has done to one of the two.
    func namesTakenAlong(
        from source: ReplayStep.Place, to target: ReplayStep.Place, exchange: Bool
    ) -> [(parent: UInt64, name: [UInt8])] {
        var places: [ReplayStep.Place] = []
        if untoldNames.contains(source) { places.append(target) }
        if exchange, untoldNames.contains(target) { places.append(source) }
        return places.map { ($0.parent.rawValue, $0.name) }
    }
}
