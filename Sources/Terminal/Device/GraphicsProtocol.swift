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

    /// Ends what was cut off, whatever it was, and is nothing otherwise. kitty takes a picture in parts: a
    /// further one, which is the last, ends that too.
    var ending: String {
        let string = "\u{1B}\\"
        return self == .kitty ? string + "\u{1B}_Gq=2,m=0;" + string : string
    }
}
