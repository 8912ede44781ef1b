/// JPEG files as cameras make them.
package enum Photo {
    /// 40 by 20 pixels, white on the left and black on the right.
    package static let pixels: [UInt8] = [
        0xFF, 0xD8, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x10, 0x0B, 0x0C, 0x0E, 0x0C, 0x0A, 0x10, 0x0E,
        0x0D, 0x0E, 0x12, 0x11, 0x10, 0x13, 0x18, 0x28, 0x1A, 0x18, 0x16, 0x16, 0x18, 0x31, 0x23,
        0x25, 0x1D, 0x28, 0x3A, 0x33, 0x3D, 0x3C, 0x39, 0x33, 0x38, 0x37, 0x40, 0x48, 0x5C, 0x4E,
        0x40, 0x44, 0x57, 0x45, 0x37, 0x38, 0x50, 0x6D, 0x51, 0x57, 0x5F, 0x62, 0x67, 0x68, 0x67,
        0x3E, 0x4D, 0x71, 0x79, 0x70, 0x64, 0x78, 0x5C, 0x65, 0x67, 0x63, 0xFF, 0xC0, 0x00, 0x0B,
        0x08, 0x00, 0x14, 0x00, 0x28, 0x01, 0x01, 0x11, 0x00, 0xFF, 0xC4, 0x00, 0x16, 0x00, 0x01,
        0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x08, 0x07, 0xFF, 0xC4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xDA, 0x00, 0x08, 0x01,
        0x01, 0x00, 0x00, 0x3F, 0x00, 0xD0, 0x04, 0xFE, 0x0A, 0x00, 0x4F, 0xE0, 0xA0, 0x04, 0xFE,
        0x0F, 0xFF, 0xD9,
    ]

    /// A photo whose preview shows the same as itself.
    ///
    /// - Parameters:
    ///   - orientation: how it is to be turned, 1 to 8.
    ///   - hasPreview: whether there is a preview where it begins.
    ///   - lead: bytes of a segment that stands before the one with the preview; 0 for none.
    ///   - gap: bytes of other things behind each of the directories that lead to the preview.
    ///   - size: its bytes in all.
    package static func bytes(
        orientation: UInt8 = 1, hasPreview: Bool = true, lead: Int = 0, gap: Int = 0, size: Int
    ) -> [UInt8] {
        var whole = Array(pixels.prefix(2))
        if lead > 0 { whole += other(lead) }
        if hasPreview { whole += segment(orientation, gap) }
        whole += pixels.dropFirst(2)
        return whole + [UInt8](repeating: 0, count: size - whole.count)
    }

    /// A segment of so many bytes that has nothing to do with previews.
    package static func other(_ bytes: Int) -> [UInt8] {
        let count = bytes - 2
        return [0xFF, 0xE2, UInt8(count >> 8), UInt8(count & 0xFF)]
            + [UInt8](repeating: 0, count: count - 2)
    }

    /// The segment with the preview, little-endian.
    private static func segment(_ orientation: UInt8, _ gap: Int) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func entry(_ tag: UInt16, _ type: UInt8, _ value: Int) -> [UInt8] {
            [UInt8(tag & 0xFF), UInt8(tag >> 8), type, 0, 1, 0, 0, 0] + number(value)
        }
        let first = [1, 0] + entry(0x0112, 3, Int(orientation)) + number(26 + gap)
        let second =
            [3, 0] + entry(0x0103, 3, 6) + entry(0x0201, 4, 68 + 2 * gap)
            + entry(0x0202, 4, pixels.count) + number(0)
        let others = [UInt8](repeating: 0x2A, count: gap)
        var content = Array("Exif\0\0".utf8) + Array("II".utf8) + [42, 0, 8, 0, 0, 0]
        content += first + others + second + others + pixels
        let count = content.count + 2
        return [0xFF, 0xE1, UInt8(count >> 8), UInt8(count & 0xFF)] + content
    }
}
