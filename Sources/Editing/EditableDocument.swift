public import Documents

/// A document of any type as a value that can be read, edited, compared and written.
///
/// Values are text as people type it: numbers, vectors as `1,2,3`, colours as in CSS, `true` and
/// `false`; in texts `\n` is a line end, `\t` a tab and `\\` a backslash. What `value(at:)` gives,
/// `set` takes.
public enum EditableDocument: Hashable, Sendable {
    /// A scene of solids.
    case scene(Scene)
    /// One solid, as the original app has it.
    case shapeFile(ShapeFile)
    /// A slide of drawn elements.
    case slide(Slide)
    /// A list of things to do.
    case list(TaskList)

    /// The type of the document.
    public var type: DocumentType {
        switch self {
        case .scene: .shape
        case .shapeFile: .shapeFile
        case .slide: .slide
        case .list: .list
        }
    }

    /// Reads a document. The notes tell what was repaired and what is wrong in it.
    public static func read(
        _ bytes: [UInt8], as type: DocumentType
    ) throws(DocumentError) -> (document: EditableDocument, notes: [String]) {
        let (document, repairs) = try repaired(bytes, as: type)
        return (document, repairs + document.problems())
    }

    /// Reads a document and tells only what was repaired in it, not what is wrong with it as it is
    /// then.
    public static func repaired(
        _ bytes: [UInt8], as type: DocumentType
    ) throws(DocumentError) -> (document: EditableDocument, repairs: [String]) {
        var repairs: [String] = []
        let document: EditableDocument
        switch type {
        case .shape:
            let (scene, list) = try Scene.repaired(bytes)
            repairs = list.map(\.description)
            document = .scene(scene)
        case .shapeFile: document = .shapeFile(try ShapeFile.read(bytes))
        case .list: document = .list(try TaskList.read(bytes))
        case .slide:
            let (slide, list) = try Slide.read(bytes)
            repairs = list.map(\.description)
            document = .slide(slide)
        }
        return (document, repairs)
    }

    /// The bytes of the document. With the bytes it was read from, what did not change is written
    /// as it stands there, where the format has such freedom.
    public func bytes(replacing original: [UInt8]?) throws(DocumentError) -> [UInt8] {
        switch self {
        case .scene(let scene): try scene.text(replacing: original)
        case .shapeFile(let file): try file.binary()
        case .slide(let slide): try slide.text(replacing: original)
        case .list(let list): try list.archived()
        }
    }
}
