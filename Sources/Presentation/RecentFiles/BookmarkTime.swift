internal import Glibc

/// Moments as bookmark files have them: ISO 8601, UTC, here in whole seconds since 1970.
enum BookmarkTime {
    static func text(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&moment, &parts) != nil else { return "1970-01-01T00:00:00Z" }
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + "-" + digits(parts.tm_mon + 1) + "-"
            + digits(parts.tm_mday) + "T" + digits(parts.tm_hour) + ":" + digits(parts.tm_min)
            + ":" + digits(parts.tm_sec) + "Z"
    }

    /// Fractions of a second are dropped; nil for what is no such moment.
    static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        let bytes = Array(text)
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T") else { return nil }
        func number(_ range: Range<Int>) -> Int32? {
            Int32(String(decoding: bytes[range], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1970...9999).contains(year), (1...12).contains(month)
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        parts.tm_mday = day
        parts.tm_hour = hour
        parts.tm_min = minute
        parts.tm_sec = second
        let seconds = Int64(timegm(&parts))
        var zone = bytes[19...]
        if zone.first == UInt8(ascii: ".") {
            zone = zone.dropFirst().drop { (0x30...0x39).contains($0) }
        }
        if zone.elementsEqual("Z".utf8) { return seconds }
        let offset = Array(zone)
        guard offset.count == 6, let hours = Int64(String(decoding: offset[1..<3], as: UTF8.self)),
            let minutes = Int64(String(decoding: offset[4..<6], as: UTF8.self))
        else { return nil }
        let shift = hours * 3_600 + minutes * 60
        return offset[0] == UInt8(ascii: "-") ? seconds + shift : seconds - shift
    }
}
