/// Moments as text in UTC (Gregorian).
extension Timestamp {
    /// As file names have it: `2026-11-21T194552Z`.
    package var compactText: String {
        let parts = civil
        return "\(parts.day)T\(parts.hour)\(parts.minute)\(parts.second)Z"
    }

    /// As ISO 8601 has it, to the nanosecond: `2026-11-21T19:45:52.123456789Z`.
    package var exactText: String {
        String(unsafeUninitializedCapacity: Self.exactLength) { writeExactText(to: $0) }
    }

    /// Bytes of ``exactText``.
    private static let exactLength = 30

    /// Writes ``exactText`` to the beginning of a buffer that has room for it: how many bytes.
    package func writeExactText(to buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let (days, second) = daysAndSeconds
        let (year, month, day) = Self.date(days)
        let form: StaticString = "0000-00-00T00:00:00.000000000Z"
        UnsafeMutableRawBufferPointer(buffer).copyMemory(
            from: UnsafeRawBufferPointer(start: form.utf8Start, count: Self.exactLength))
        func put(_ value: Int, before end: Int, _ digits: Int) {
            var rest = value
            for place in stride(from: end - 1, through: end - digits, by: -1) {
                buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
        put(year, before: 4, 4)
        put(month, before: 7, 2)
        put(day, before: 10, 2)
        put(second / 3600, before: 13, 2)
        put(second / 60 % 60, before: 16, 2)
        put(second % 60, before: 19, 2)
        put(Int(nanoseconds), before: 29, 9)
        return Self.exactLength
    }

    private var civil: (day: String, hour: String, minute: String, second: String) {
        let (days, second) = daysAndSeconds
        let (year, month, day) = Self.date(days)
        func two(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
        return (
            "\(year)-\(two(month))-\(two(day))", two(second / 3600), two(second / 60 % 60),
            two(second % 60)
        )
    }

    /// Days since 1970-01-01, and the seconds of the day.
    private var daysAndSeconds: (days: Int, seconds: Int) {
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        return (days, Int(seconds) - days * 86_400)
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
