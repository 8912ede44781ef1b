internal import Thumbnailing

/// What stands for a picture that is not there: a page with the colour of the document's type.
///
/// Shipped, not drawn: only a colour is put in, and a text that tells it from a picture.
package enum Placeholder {
    /// The place of the type's colour in the palette.
    private static let accent = 4

    /// The placeholder for a type as a PNG file.
    package static func bytes(_ type: PictureType, _ size: PictureSize) -> [UInt8] {
        let kind = colors.keys.contains(type.end) ? type.end : ""
        return all[Key(kind: kind, size: size)] ?? []
    }

    private struct Key: Hashable {
        var kind: String
        var size: PictureSize
    }

    /// Colours by the ends of names.
    private static let colors: [String: (UInt8, UInt8, UInt8)] = [
        "": (130, 130, 135), "shape": (60, 171, 219), "shapefile": (89, 91, 212),
        "slide": (254, 149, 38), "list": (83, 216, 106), "txt": (150, 150, 160),
        "text": (150, 150, 160), "log": (150, 150, 160), "md": (110, 125, 160),
        "markdown": (110, 125, 160), "mkd": (110, 125, 160),
    ]

    /// All of them: some 70 KB.
    private static let all: [Key: [UInt8]] = {
        var all: [Key: [UInt8]] = [:]
        for size in PictureSize.allCases {
            guard let plain = PNGFile(decoded(size)) else { continue }
            for (kind, color) in colors {
                all[Key(kind: kind, size: size)] = plain.recolored(accent, color)?.placeholder()
            }
        }
        return all
    }()

    private static func decoded(_ size: PictureSize) -> [UInt8] {
        let text =
            switch size {
            case .small: PlaceholderBytes.small
            case .medium: PlaceholderBytes.medium
            case .large: PlaceholderBytes.large
            case .huge: PlaceholderBytes.huge
            }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for digit in text.utf8 {
            guard let value = value(of: digit) else { continue }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
