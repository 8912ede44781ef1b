/// What `shapeedit-thumbnailer` draws. The numbers are those of the protocol.
public enum DrawnType: UInt8, CaseIterable, Sendable {
    /// A scene of solids.
    case shape = 1
    /// One solid, as the original app writes it.
    case shapeFile = 2
    /// A slide.
    case slide = 3
    /// A list of things to do.
    case list = 4
    /// Plain text.
    case text = 5
    /// Text with the marks of Markdown.
    case markdown = 6

    /// The type by the end of a file's name, in any case; nil for what is not drawn here.
    public init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: "."), dot != fileName.startIndex else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "shape": self = .shape
        case "shapefile": self = .shapeFile
        case "slide": self = .slide
        case "list": self = .list
        case "txt", "text", "log": self = .text
        case "md", "markdown", "mkd": self = .markdown
        default: return nil
        }
    }
}
