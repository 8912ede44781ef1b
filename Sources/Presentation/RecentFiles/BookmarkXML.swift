internal import Thumbnailing

/// What bookmark files say, in the words and prefixes that GLib, GTK and KDE write.
enum BookmarkXML {
    static let applications = "bookmark:applications"
    static let application = "bookmark:application"
    static let isPrivate = "bookmark:private"
    /// What documents of a mount are registered by.
    static let ownName = "ShapeEdit"
    /// How they are opened: with whatever the desktop has for their type.
    private static let ownCommand = "'xdg-open %u'"

    static let namespaces = [
        (name: "xmlns:bookmark", value: "http://www.freedesktop.org/standards/desktop-bookmarks"),
        (name: "xmlns:mime", value: "http://www.freedesktop.org/standards/shared-mime-info"),
    ]

    /// A file without entries.
    static let empty = Array(
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xbel version=\"1.0\""
            + namespaces.map { "\n      \($0.name)=\"\($0.value)\"" }.joined() + "\n>\n</xbel>\n")
            .utf8)

    static func href(_ path: [UInt8]) -> [UInt8] {
        MarkupText.escaped(FileURI.address(ofPath: path))
    }

    static func application(_ opened: Int64) -> [UInt8] {
        let command = String(decoding: MarkupText.escaped(ownCommand), as: UTF8.self)
        return Array(
            ("<\(application) name=\"\(ownName)\" exec=\"\(command)\" "
                + "modified=\"\(BookmarkTime.text(opened))\" count=\"1\"/>").utf8)
    }

    static func entry(_ path: [UInt8], _ opened: Int64, type: String) -> [UInt8] {
        let time = BookmarkTime.text(opened)
        let type = String(decoding: MarkupText.escaped(type), as: UTF8.self)
        let text = Array(
            ("\" added=\"\(time)\" modified=\"\(time)\" visited=\"\(time)\">\n    <info>\n"
                + "      <metadata owner=\"http://freedesktop.org\">\n"
                + "        <mime:mime-type type=\"\(type)\"/>\n        <\(applications)>\n"
                + "          ").utf8)
        let end = Array(
            "\n        </\(applications)>\n      </metadata>\n    </info>\n  </bookmark>\n".utf8)
        return Array("  <bookmark href=\"".utf8) + href(path) + text + application(opened) + end
    }
}
