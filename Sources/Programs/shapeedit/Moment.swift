import ArgumentParser
import Glibc

/// A moment on a command line: ISO 8601, local (`2026-12-24`, `2026-12-24T18:00`, `2026-12-24 18:00:30`), or with
/// where it is that late (`2026-12-24T18:00:00Z`, `2026-12-24T18:00+0100`), as times are printed.
struct Moment: ExpressibleByArgument {
    /// Seconds since 1970.
    let seconds: Int64

    init?(argument: String) {
        let parts = argument.split(omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        guard (1...2).contains(parts.count), let date = Self.numbers(parts[0], "-", 3)
        else { return nil }
        let (clock, offset) = parts.count == 1 ? ("0:0:0", nil) : Self.clockAndOffset(parts[1])
        guard let clock, let time = Self.numbers(clock, ":", 3), Self.isTime(time) else {
            return nil
        }
        var moment = tm()
        moment.tm_year = date[0] - 1900
        moment.tm_mon = date[1] - 1
        moment.tm_mday = date[2]
        (moment.tm_hour, moment.tm_min, moment.tm_sec) = (time[0], time[1], time[2])
        // Whether it is summer time is for the C library to know.
        moment.tm_isdst = -1
        // No moment is -1 but the second before 1970; this tells it from one that cannot be.
        moment.tm_wday = -1
        let given = moment
        let found = offset == nil ? mktime(&moment) : timegm(&moment)
        // It makes 1 May of 31 April, and 3:30 of a 2:30 at which the clocks are put forward. A day without a
        // time begins in any case.
        guard moment.tm_wday >= 0, moment.tm_mday == given.tm_mday, moment.tm_mon == given.tm_mon,
            parts.count == 1 || Self.clock(moment) == Self.clock(given)
        else {
            return nil
        }
        seconds = Int64(found) - Int64(offset ?? 0)
    }

    /// The time of a day with its seconds, and how many of them it is ahead of UTC; `nil` for the first of
    /// what is no time, for the second of a local one.
    private static func clockAndOffset(_ text: Substring) -> (Substring?, Int32?) {
        guard let mark = text.firstIndex(where: { "Z+-".contains($0) }) else {
            return (clock(text), nil)
        }
        let rest = text[text.index(after: mark)...]
        if text[mark] == "Z" { return (rest.isEmpty ? clock(text[..<mark]) : nil, 0) }
        let digits = rest.filter { $0 != ":" }
        guard [2, 4].contains(digits.count), digits.allSatisfy(\.isNumber),
            let number = Int32(digits)
        else { return (nil, nil) }
        let (hours, minutes) = digits.count == 2 ? (number, 0) : (number / 100, number % 100)
        guard isTime([hours, minutes, 0]) else { return (nil, nil) }
        let seconds = hours * 3600 + minutes * 60
        return (clock(text[..<mark]), text[mark] == "-" ? -seconds : seconds)
    }

    /// Hours, minutes and seconds: those may be missing, and what they have behind a point counts nothing.
    private static func clock(_ text: Substring) -> Substring? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count > 1, parts[1].isEmpty || !parts[1].allSatisfy(\.isNumber) { return nil }
        let colons = parts[0].count { $0 == ":" }
        guard colons == 2 || colons == 1 && parts.count == 1 else { return nil }
        return colons == 2 ? parts[0] : parts[0] + ":0"
    }

    /// What a clock shows then, in seconds since midnight.
    private static func clock(_ moment: tm) -> Int32 {
        moment.tm_hour * 3600 + moment.tm_min * 60 + moment.tm_sec
    }

    /// Whether a clock can show these hours, minutes and seconds; the C library would carry them over.
    private static func isTime(_ parts: [Int32]) -> Bool {
        // The last second of a day may be one more.
        parts[0] < 24 && parts[1] < 60 && parts[2] <= 60
    }

    private static func numbers(
        _ text: Substring, _ separator: Character, _ count: Int
    ) -> [Int32]? {
        let numbers = text.split(separator: separator, omittingEmptySubsequences: false)
            .map { $0.allSatisfy(\.isNumber) ? Int32($0) : nil }
        let known = numbers.compactMap { $0 }
        return numbers.count == count && known.count == count ? known : nil
    }
}
