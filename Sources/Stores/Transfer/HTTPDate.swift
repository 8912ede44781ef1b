internal import Glibc

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`, and in the two older forms that are to be
/// understood, too: `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. Also those of servers that
/// name the zone otherwise, or write the date of a change as WebDAV has it for that of the creation.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let zones = ["GMT", "UTC", "+0000"]

    /// Seconds since 1970; `nil` if it is no such date.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        switch words.count {
        case 6 where zones.contains(String(words[5])):
            return seconds(year: words[3], words[2], words[1], words[4])
        case 5: return seconds(year: words[4], words[1], words[2], words[3])
        case 4 where zones.contains(String(words[3])):
            let day = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard day.count == 3, day[2].utf8.count == 2, let year = Int(day[2]) else { return nil }
            return seconds(year: "\(year + (year < 70 ? 2000 : 1900))", day[1], day[0], words[2])
        default: return ISODate.seconds(text)
        }
    }

    private static func seconds(
        year: Substring, _ month: Substring, _ day: Substring, _ clock: Substring
    ) -> Int64? {
        let clock = clock.split(separator: ":").compactMap { Int32($0) }
        guard let year = Int32(year), let month = months.firstIndex(of: String(month)),
            let day = Int32(day), (1970...9999).contains(year), (1...31).contains(day),
            clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]),
            (0...60).contains(clock[2])
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = Int32(month)
        parts.tm_mday = day
        parts.tm_hour = clock[0]
        parts.tm_min = clock[1]
        parts.tm_sec = clock[2]
        return Int64(timegm(&parts))
    }
}
