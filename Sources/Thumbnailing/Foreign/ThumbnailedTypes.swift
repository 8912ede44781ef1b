internal import Glibc
internal import PathText
internal import SystemCalls

/// The files that file managers open to draw them, as far as their names tell: those that there is a program
/// for, and those that they, or tumbler where it is installed, draw by themselves.
package struct ThumbnailedTypes: Sendable {
    private static let beginnings = ["image/", "video/", "font/", "application/pdf"]
    /// The same of what else tumbler draws by its own plugins: covers of music and books, office documents.
    private static let tumblerBeginnings =
        beginnings + [
            "audio/", "application/vnd.oasis.opendocument.", "application/vnd.openxmlformats-",
            "application/vnd.sun.xml.", "application/vnd.ms-", "application/vnd.rn-realmedia",
            "application/epub", "application/msword", "application/mxf", "application/ogg",
            "application/postscript", "application/x-flac", "application/x-font-",
            "application/x-matroska", "application/vnd.apple.mpegurl", "application/smil",
            "application/xspf", "application/sdp",
        ]
    /// With this the session's bus starts it.
    private static let tumbler = "dbus-1/services/org.xfce.Tumbler.Thumbnailer1.service"

    private let types: FileNameTypes
    private let beginnings: [String]
    private let named: Set<String>

    /// As it is now. Takes some milliseconds.
    package init() {
        let folders = SharedData.folders
        let types = FileNameTypes(folders: folders)
        var shortage: Errno?
        named = Set(
            ThumbnailerEntry.installed(in: folders, &shortage).flatMap(\.mimeTypes)
                .flatMap { [$0, types.canonical($0)] })
        self.types = types
        let isTumblerThere = folders.contains { access("\($0)/\(Self.tumbler)".cPath, F_OK) == 0 }
        beginnings = isTumblerThere ? Self.tumblerBeginnings : Self.beginnings
    }

    /// Whether a file of that name is one.
    package func contains(fileName: String) -> Bool {
        types.types(ofFileName: fileName).contains { type in
            named.contains(type) || beginnings.contains { type.hasPrefix($0) }
        }
    }
}
