/// Moments as text in UTC (Gregorian).
extension Timestamp {
    /// As file names have it: `2026-11-21T194552Z`.
    package var compactText: String {
        let parts = civil
        return "\(parts.day)T\(parts.hour)\(parts.minute)\(parts.second)Z"
    }

    /// As ISO 8601 has it, to the nanosecond: `2026-11-21T19:45:52.123456789Z`.
    package var exactText: String {
        let parts = civil
        let digits = String(nanoseconds)
        let fraction = String(repeating: "0", count: 9 - digits.utf8.count) + digits
        return "\(parts.day)T\(parts.hour):\(parts.minute):\(parts.second).\(fraction)Z"
    }

    private var civil: (day: String, hour: String, minute: String, second: String) {
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let second = Int(seconds) - days * 86_400
        let (year, month, day) = Self.date(days)
        func two(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
        return (
            "\(year)-\(two(month))-\(two(day))", two(second / 3600), two(second / 60 % 60),
            two(second % 60)
        )
    }

    /// The civil date of a day counted from 1970-01-01 (Hinnant's method).
    private static func date(_ day: Int) -> (Int, Int, Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}
