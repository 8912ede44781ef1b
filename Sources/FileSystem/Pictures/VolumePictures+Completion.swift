internal import Model
internal import Pictures
internal import SystemCalls

/// Versions whose largest picture, or that and the others, is to be drawn when nothing was published for
/// a while: who saves again and again is not to wait for it each time.
struct IncompletePictures: Sendable {
    /// How long nothing is published, in nanoseconds.
    private static let rest: UInt64 = 1_000_000_000
    /// How long the first of them waits at most.
    private static let patience: UInt64 = 10_000_000_000
    /// Further ones are drawn when somebody looks at them.
    private static let limit = 65_536

    private var nodes: [NodeNumber] = []
    private var first: UInt64 = 0
    private var last: UInt64 = 0

    /// Adds one at a moment of `MonotonicClock`; when to look, if nobody looks yet.
    mutating func add(_ node: NodeNumber, _ now: UInt64) -> UInt64? {
        last = now
        guard nodes.count < Self.limit else { return nil }
        nodes.append(node)
        if nodes.count > 1 { return nil }
        first = now
        return now + Self.rest
    }

    /// Takes all of them out if their time has come; else when to look again.
    mutating func take(_ now: UInt64) -> (nodes: [NodeNumber], again: UInt64?) {
        let due = min(last + Self.rest, first + Self.patience)
        if now < due { return ([], due) }
        defer { nodes = [] }
        return (nodes, nil)
    }
}

extension VolumePictures {
    /// Has the sizes drawn that were not published with a version, if it is still current then and here.
    func completeLater(_ node: NodeNumber) {
        let look = incomplete.withLock { $0.add(node, MonotonicClock.now) }
        if let look { planCompletion(at: look) }
    }

    private func planCompletion(at moment: UInt64) {
        volume.scheduler.at(moment) { [weak self] in
            guard let self else { return }
            // Until then they would be refused.
            if let end = queue.pauseEnd { return planCompletion(at: end) }
            let (nodes, again) = incomplete.withLock { $0.take(MonotonicClock.now) }
            if let again { return planCompletion(at: again) }
            // There may be many, and heads are read from the disk; the scheduler has no time.
            Threads.start("completion") { [volume] in
                for node in nodes {
                    let subject = volume.state.withLock { state in
                        state.pictureSubject(state.index.find(node.item))
                    }
                    if let subject, subject.node == node { self.complete(subject) }
                }
            }
        }
    }

    /// Has the sizes drawn that are missing of a version whose content is here; says whether there are
    /// any that can be.
    @discardableResult
    func complete(_ subject: PictureSubject) -> Bool {
        guard !subject.isPromise, missing(subject) != nil else { return false }
        return ask(subject, isLasting: true)
    }
}
