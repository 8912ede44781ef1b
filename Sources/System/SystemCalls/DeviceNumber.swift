/// The two parts of a device's number, which the C library packs into one in stat(2).
package struct DeviceNumber: Hashable, Sendable {
    package let major: UInt64
    package let minor: UInt64

    /// - Parameter packed: `st_dev`.
    package init(_ packed: UInt64) {
        major = packed >> 8 & 0xfff | packed >> 32 & 0xffff_f000
        minor = packed & 0xff | packed >> 12 & 0xffff_ff00
    }
}
