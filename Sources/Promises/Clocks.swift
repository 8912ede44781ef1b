internal import SystemCalls

/// A moment by two clocks, from one run of the program to the next.
///
/// The time of day may be set forward, and the other begins anew with each boot, of this machine or of the one that
/// a disk was carried to. What both say has gone by has gone by.
package struct Clocks: Sendable {
    /// Seconds since 1970 and since the boot.
    package var day: UInt64
    package var boot: UInt64

    package init(day: UInt64, boot: UInt64) {
        (self.day, self.boot) = (day, boot)
    }

    /// Now.
    package init() {
        self.init(day: UInt64(max(0, WallClock.now.seconds)), boot: BootClock.now / 1_000_000_000)
    }

    /// What ``text`` has written.
    init?(_ text: Substring) {
        let words = text.split(separator: "-")
        guard words.count == 2, let day = UInt64(words[0]), let boot = UInt64(words[1]) else {
            return nil
        }
        self.init(day: day, boot: boot)
    }

    /// A word.
    var text: String { "\(day)-\(boot)" }

    /// At least so many nanoseconds have gone by since an earlier moment; `nil` if a clock was set back since.
    func passed(since moment: Clocks) -> UInt64? {
        guard day >= moment.day, boot >= moment.boot else { return nil }
        let seconds = min(day - moment.day, boot - moment.boot)
        let (passed, isLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isLong ? .max : passed
    }
}
