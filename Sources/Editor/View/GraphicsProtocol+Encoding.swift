package import Drawing
package import Terminal

extension GraphicsProtocol {
    /// How pictures are encoded for it; nil for none.
    package var encoding: TerminalGraphics? {
        switch self {
        case .kitty: .kitty
        case .sixel: .sixel
        case .iterm: .iTerm2
        case .blocks: .halfBlocks
        case .none: nil
        }
    }
}
