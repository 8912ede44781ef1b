internal import Glibc

/// Moments as people read them, in the time zone of this process.
package enum LocalTime {
    /// A moment in seconds since 1970 in a form of strftime(3), at most 63 bytes long.
    package static func text(_ seconds: Int, as form: String) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, form, &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// This moment.
    package static func now(as form: String) -> String { text(time(nil), as: form) }
}
