import Glibc

/// Signals that this program was started to ignore: it goes on when they come, as nohup(1) means it.
enum IgnoredSignals {
    /// Says what a signal does from now on, unless it is ignored.
    ///
    /// - Returns: whether it does that now.
    @discardableResult
    static func set(_ number: Int32, _ handler: __sighandler_t?) -> Bool {
        let before = signal(number, handler)
        let isIgnored = before.map { unsafeBitCast($0, to: Int.self) } == 1
        if isIgnored { signal(number, SIG_IGN) }
        return !isIgnored
    }
}
