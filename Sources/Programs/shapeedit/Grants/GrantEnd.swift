import ArgumentParser
import Model
import SystemCalls

/// When a grant ends: `--until` of a command line.
struct GrantEnd: ExpressibleByArgument {
    /// Seconds since 1970.
    let seconds: Int64

    var timestamp: Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    /// Reads a time from now on (`90s`, `15m`, `2h`, `7d`) or a ``Moment``. `nil` for what no time of a file
    /// can be.
    init?(argument: String) {
        guard let seconds = Self.seconds(argument),
            Timestamp(seconds: seconds, nanoseconds: 0).seconds == seconds
        else { return nil }
        self.seconds = seconds
    }

    /// Fails for a time that is past.
    func check() throws(Failure) {
        if seconds > WallClock.now.seconds { return }
        throw Failure(
            .usage,
            "--until: \(HistoryReport.time(seconds: seconds)) is past; name a time still to come")
    }

    private static func seconds(_ argument: String) -> Int64? {
        if let unit = argument.last, let factor = factors[unit] {
            guard let count = Int64(argument.dropLast()), (1...1_000_000_000).contains(count)
            else { return nil }
            // Not sooner than asked for: of the second that has begun little may be left.
            return WallClock.now.seconds + 1 + count * factor
        }
        return Moment(argument: argument)?.seconds
    }

    private static let factors: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
}
