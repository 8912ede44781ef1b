/// How a terminal takes pictures.
public enum GraphicsProtocol: String, CaseIterable, Hashable, Sendable {
    /// kitty's graphics protocol.
    case kitty
    /// Sixel.
    case sixel
    /// The inline images of iTerm2.
    case iterm
    /// Half blocks in 24-bit colours.
    case blocks
    /// No pictures at all.
    case none
}
