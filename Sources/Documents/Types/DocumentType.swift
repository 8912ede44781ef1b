/// The kinds of documents this program reads and writes.
public enum DocumentType: String, CaseIterable, Hashable, Sendable {
    /// A scene of solids.
    case shape
    /// One solid, as the original app writes it.
    case shapeFile
    /// A slide of drawn elements.
    case slide
    /// A list of things to do.
    case list

    /// What the names of its files end with, without the dot.
    public var fileExtension: String { rawValue }

    /// The type by the end of a file's name, in any case; nil for other files.
    public init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: "."), dot != fileName.startIndex else { return nil }
        let end = fileName[fileName.index(after: dot)...].lowercased()
        guard let type = DocumentType.allCases.first(where: { $0.rawValue.lowercased() == end })
        else { return nil }
        self = type
    }

    /// The type by what a file holds; nil if it is no document of these. It is read as far as
    /// telling takes; that it has a type does not mean that it is sound.
    public init?(content bytes: [UInt8]) {
        if let list = try? PropertyList.read(bytes) {
            if list["$archiver"] != nil, (try? TaskList.read(bytes)) != nil {
                self = .list
            } else if list["shape"] != nil {
                self = .shapeFile
            } else {
                return nil
            }
        } else if let object = (try? JSONValue.readTolerantly(bytes))?.value.object {
            if object["elements"]?.array != nil {
                self = .slide
            } else if object[SceneKey.nodes]?.array != nil, object[SceneKey.version] != nil {
                self = .shape
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}
