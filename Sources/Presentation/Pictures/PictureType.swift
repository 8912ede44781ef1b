internal import Thumbnailing

/// What a document's name tells about how it is drawn: the same content under a name of another type
/// has another picture.
package struct PictureType: Hashable, Sendable {
    /// Longer ends of names say nothing about a type.
    private static let endLimit = 16

    /// The end of the name in lower case, ASCII letters and digits only; empty for none.
    package let end: String

    /// The type by a file's name.
    package init(fileName: some Collection<UInt8>) {
        let name = Array(fileName)
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            case let end = name[(dot + 1)...], !end.isEmpty, end.count <= Self.endLimit,
            end.allSatisfy({ Self.isPlain($0) })
        else {
            self.end = ""
            return
        }
        self.end = String(decoding: end, as: UTF8.self).lowercased()
    }

    /// The type that was written down as ``end``.
    init(end: String) { self.end = end }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// What `shapeedit-thumbnailer` takes it for; nil if that does not draw it.
    var drawn: DrawnType? { DrawnType(fileName: "x." + end) }

    /// Whether `shapeedit-thumbnailer` draws it.
    package var isOwn: Bool { drawn != nil }

    /// Whether files of the type have a small picture of themselves where they begin.
    package var hasPreview: Bool { ["jpg", "jpeg", "jpe", "jfif"].contains(end) }

    /// Whether it is drawn when it is published, not only when somebody asks.
    package var isDrawnAtPublish: Bool {
        switch drawn {
        case .shape, .shapeFile, .slide, .list: true
        case .text, .markdown, nil: false
        }
    }
}
