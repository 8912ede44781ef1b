/// The steps of changes that are announced before they are made, given out in the order of the
/// announcements.
///
/// What comes between a change and its steps, that the kernel forgets what has become stale, takes one
/// change longer than the next. A step that is told before the one by which things came there is no more how
/// things are, and then neither is told. Pure.
struct AnnouncedSteps: Sendable {
    /// Changes that were announced, and those of them whose steps were given out.
    private(set) var announced: UInt64 = 0
    private(set) var arrived: UInt64 = 0
    /// What came before its turn, by the number of its announcement.
    private var early: [UInt64: [ReplayStep]] = [:]

    /// Announces a change; with this number its steps are to come, in any case.
    mutating func announce() -> UInt64 {
        defer { announced += 1 }
        return announced
    }

    /// Takes the steps of a change, none if nothing came of it, and returns those whose turn it is.
    mutating func take(_ steps: [ReplayStep], of change: UInt64) -> [ReplayStep] {
        early[change] = steps
        var ready: [ReplayStep] = []
        while let next = early.removeValue(forKey: arrived) {
            ready += next
            arrived += 1
        }
        return ready
    }
}
