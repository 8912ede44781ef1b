/// A moment to the nanosecond in 64 bits, over the very range that ext4 stores.
///
/// The upper 34 bits hold seconds counted from -2^31, the lower 30 the nanoseconds: 1901-12-13 to
/// 2446-05-10. Moments outside are clamped, and the first and the last second have no parts, as ext4 does.
package struct Timestamp: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    private static let offset: Int64 = 1 << 31
    private static let largest: Int64 = 1 << 34 - 1

    /// - Parameters:
    ///   - seconds: since 1970-01-01 UTC, may be negative.
    ///   - nanoseconds: 0 to 999,999,999.
    package init(seconds: Int64, nanoseconds: Int64) {
        let shifted = seconds.addingReportingOverflow(Self.offset)
        if shifted.overflow || shifted.partialValue >= Self.largest {
            rawValue = UInt64(Self.largest) << 30
        } else if shifted.partialValue <= 0 {
            rawValue = 0
        } else {
            rawValue = UInt64(shifted.partialValue) << 30 | UInt64(nanoseconds & 0x3fff_ffff)
        }
    }

    /// A clock's moment, in seconds and nanoseconds since 1970-01-01 UTC.
    package init(_ moment: (seconds: Int64, nanoseconds: Int64)) {
        self.init(seconds: moment.seconds, nanoseconds: moment.nanoseconds)
    }

    /// Seconds since 1970-01-01 UTC, rounded down.
    package var seconds: Int64 { Int64(rawValue >> 30) - Self.offset }
    /// 0 to 999,999,999, also of bits that no moment has.
    package var nanoseconds: Int64 { min(Int64(rawValue & 0x3fff_ffff), 999_999_999) }

    /// The next moment, a nanosecond later.
    package var successor: Timestamp {
        nanoseconds >= 999_999_999
            ? Timestamp(seconds: seconds + 1, nanoseconds: 0) : Timestamp(rawValue: rawValue + 1)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Seconds from `other` to this moment, negative if this one is earlier.
    package func secondsSince(_ other: Timestamp) -> Double {
        Double(seconds - other.seconds) + Double(nanoseconds - other.nanoseconds) / 1e9
    }
}
