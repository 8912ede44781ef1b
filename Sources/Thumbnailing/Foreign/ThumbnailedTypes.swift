internal import SystemCalls

/// The files that file managers open to draw them, as far as their names tell: those that there is a program
/// for, and those that tumbler draws by itself.
package struct ThumbnailedTypes: Sendable {
    private static let beginnings = ["image/", "video/", "font/", "application/pdf"]

    private let types: FileNameTypes
    private let named: Set<String>

    /// As it is now. Takes some milliseconds.
    package init() {
        let folders = SharedData.folders
        let types = FileNameTypes(folders: folders)
        named = Set(
            ThumbnailerEntry.installed(in: folders).flatMap(\.mimeTypes).flatMap { type in
                [type, types.canonical(type)]
            })
        self.types = types
    }

    /// Whether a file of that name is one.
    package func contains(fileName: String) -> Bool {
        types.types(ofFileName: fileName).contains { type in
            named.contains(type) || Self.beginnings.contains { type.hasPrefix($0) }
        }
    }
}
