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
    ///
    /// - Throws: why it cannot be read, if it begins as one of them does.
    public init?(content bytes: [UInt8]) throws(DocumentError) {
        // In every encoding, whatever mark is before it.
        let first = bytes.first { (0x21..<0x7f).contains($0) }
        do throws(DocumentError) {
            guard let type = try Self.told(by: bytes, beginningWith: first) else { return nil }
            self = type
        } catch {
            // Other programs' files begin so too, and very many of them with a comment.
            let isOther = error.kind == .malformed && first == UInt8(ascii: "/")
            if isOther || error.kind == .otherFormat || error.kind == .unknown { return nil }
            throw error
        }
    }

    private static func told(
        by bytes: [UInt8], beginningWith first: UInt8?
    ) throws(DocumentError) -> DocumentType? {
        if bytes.starts(with: BinaryPropertyListReader.magic) || first == UInt8(ascii: "<") {
            let list = try PropertyList.read(bytes)
            guard list["$archiver"] != nil else { return list["shape"] != nil ? .shapeFile : nil }
            _ = try TaskList.read(bytes)
            return .list
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "/"),
            let object = try JSONValue.readTolerantly(bytes).value.object
        else { return nil }
        if object["elements"]?.array != nil { return .slide }
        let isScene = object[SceneKey.nodes]?.array != nil && object[SceneKey.version] != nil
        return isScene ? .shape : nil
    }
}
