import ArgumentParser
import Glibc
import Model
import SystemCalls

/// When a grant ends: `--until` of a command line.
struct GrantEnd: ExpressibleByArgument {
    /// Seconds since 1970.
    let seconds: Int64

    var timestamp: Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    /// Reads a time from now on (`90s`, `15m`, `2h`, `7d`) or a local moment (`2026-12-24`,
    /// `2026-12-24T18:00`). `nil` for what is past, and for what no time of a file can be.
    init?(argument: String) {
        guard let seconds = Self.seconds(argument), seconds > WallClock.now.seconds,
            Timestamp(seconds: seconds, nanoseconds: 0).seconds == seconds
        else { return nil }
        self.seconds = seconds
    }

    private static func seconds(_ argument: String) -> Int64? {
        if let unit = argument.last, let factor = factors[unit] {
            guard let count = Int64(argument.dropLast()), (1...1_000_000_000).contains(count)
            else { return nil }
            // Not sooner than asked for: of the second that has begun little may be left.
            return WallClock.now.seconds + 1 + count * factor
        }
        let parts = argument.split(separator: "T", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let date = numbers(parts[0], "-", 3),
            let time = parts.count == 1 ? [0, 0] : numbers(parts[1], ":", 2)
        else { return nil }
        var moment = tm()
        moment.tm_year = date[0] - 1900
        moment.tm_mon = date[1] - 1
        moment.tm_mday = date[2]
        moment.tm_hour = time[0]
        moment.tm_min = time[1]
        // Whether it is summer time is for the C library to know.
        moment.tm_isdst = -1
        let given = moment
        let found = mktime(&moment)
        // It makes 1 May of 31 April.
        guard found > 0, moment.tm_mday == given.tm_mday, moment.tm_mon == given.tm_mon else {
            return nil
        }
        return Int64(found)
    }

    private static func numbers(
        _ text: Substring, _ separator: Character, _ count: Int
    ) -> [Int32]? {
        let numbers = text.split(separator: separator, omittingEmptySubsequences: false)
            .map { $0.allSatisfy(\.isNumber) ? Int32($0) : nil }
        let known = numbers.compactMap { $0 }
        return numbers.count == count && known.count == count ? known : nil
    }

    private static let factors: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
}
