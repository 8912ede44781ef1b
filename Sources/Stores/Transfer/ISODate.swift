internal import Glibc

/// Dates as S3 writes them in listings: `2024-02-29T10:20:30.000Z`.
enum ISODate {
    /// Seconds since 1970; `nil` if it is no such date.
    static func seconds(_ text: String) -> Int64? {
        let halves = text.split(separator: "T")
        guard halves.count == 2, halves[1].hasSuffix("Z") else { return nil }
        let day = halves[0].split(separator: "-").compactMap { Int32($0) }
        let clock = halves[1].dropLast().prefix { $0 != "." }.split(separator: ":")
            .compactMap { Int32($0) }
        guard day.count == 3, clock.count == 3, (1970...9999).contains(day[0]),
            (1...12).contains(day[1]), (1...31).contains(day[2])
        else { return nil }
        var parts = tm()
        parts.tm_year = day[0] - 1900
        parts.tm_mon = day[1] - 1
        parts.tm_mday = day[2]
        parts.tm_hour = clock[0]
        parts.tm_min = clock[1]
        parts.tm_sec = clock[2]
        return Int64(timegm(&parts))
    }
}
