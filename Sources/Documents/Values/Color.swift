/// A colour in sRGB with 8 bits a channel; alpha is not multiplied into the others.
public struct Color: Hashable, Sendable {
    /// Red, 0 to 255.
    public var red: UInt8
    /// Green, 0 to 255.
    public var green: UInt8
    /// Blue, 0 to 255.
    public var blue: UInt8
    /// 0 clear, 255 opaque.
    public var alpha: UInt8

    /// A colour of its channels.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// No colour at all.
    public static let clear = Color(red: 0, green: 0, blue: 0, alpha: 0)
    /// Black.
    public static let black = Color(red: 0, green: 0, blue: 0)
    /// White.
    public static let white = Color(red: 255, green: 255, blue: 255)
    /// The grey of a solid that has no colour.
    public static let gray = Color(red: 128, green: 128, blue: 128)

    /// Whether nothing shows through.
    public var isOpaque: Bool { alpha == 255 }
}

extension Color: CustomStringConvertible {
    /// The canonical text, which `init(_:)` reads back: `clear`, `#rrggbb`, or `#rrggbbaa` where
    /// alpha is neither 0 nor 255. A colour of alpha 0 keeps its other channels only if they are
    /// not 0.
    public var description: String { self == .clear ? "clear" : hexadecimal }

    /// `#rrggbb`, or `#rrggbbaa` where the colour is not opaque.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = [UInt8(ascii: "#")]
        for channel in [red, green, blue] + (isOpaque ? [] : [alpha]) {
            text.append(digits[Int(channel >> 4)])
            text.append(digits[Int(channel & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
