import CPangoCairo
import SystemCalls

/// The fonts that the texts of a picture were set in so far. The library keeps all it has found out of each,
/// and their files mapped: with hundreds of them installed and texts of dozens of scripts that is more than a
/// picture may take.
///
/// Belongs to one thread, as the library's fonts do.
struct UsedFonts {
    /// So few are not given up: to find them again takes longer than to set a text.
    private static let few = 32
    /// Bytes in use (without blocks that have mappings of their own) from which on more are.
    private static let mostBytes = 20 << 20

    private var fonts: Set<UnsafeMutablePointer<PangoFont>> = []
    /// How many there were when it was looked last whether they are to be given up.
    private var looked = Self.few

    mutating func add(_ line: UnsafeMutablePointer<PangoLayoutLine>) {
        fonts.formUnion(line.runs.compactMap(\.font))
    }

    /// Has the library forget them if it is time; says whether it has. What was set goes on having its own; who
    /// sets more needs a new layout.
    mutating func giveUpIfMany() -> Bool {
        guard fonts.count > looked else { return false }
        looked = fonts.count
        guard Memory.inUse > Self.mostBytes else { return false }
        pango_cairo_font_map_set_default(nil)
        self = UsedFonts()
        return true
    }
}
