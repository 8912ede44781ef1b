/// When versions that were published are to be hashed and moved among the blobs: when nothing was published
/// for a while, but not for ever. Pure; times are monotonic nanoseconds.
struct SealingTime: Sendable {
    private static let quiet: UInt64 = 4_000_000_000
    private static let patience: UInt64 = 60_000_000_000

    /// When the first version was published that no sealing has begun with, and the last one; `nil`: there is
    /// none.
    private var published: (first: UInt64, last: UInt64)?
    /// A sealing was begun that has to go on.
    private var goesOn = false

    /// A version was published.
    mutating func publish(at now: UInt64) { published = (published?.first ?? now, now) }

    /// The rest of what is being sealed comes next. No moment is told for it: soon after the machine has
    /// started there is none that is long ago.
    mutating func goOn() { goesOn = true }

    /// Whether a sealing is to begin, or to go on.
    func isRipe(at now: UInt64) -> Bool {
        if goesOn { return true }
        guard let published else { return false }
        return now > published.last + Self.quiet || now > published.first + Self.patience
    }

    /// A sealing begins with all that was published.
    mutating func begin() { self = SealingTime() }
}
