internal import CDeflate

/// The CRC-32 of IEEE 802.3, as in PNG files: tells what a power loss cut off or a disk garbled.
package enum CRC32 {
    /// That of some bytes.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        libdeflate_crc32(0, bytes.baseAddress, bytes.count)
    }
}
