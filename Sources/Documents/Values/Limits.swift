/// How much a document may hold. What is beyond is refused with `DocumentError.Kind.tooLarge`, so
/// that no file, however made, takes more than a second or 256 MiB to read.
public enum Limits {
    /// Bytes of a JSON document.
    public static let jsonBytes = 16 << 20
    /// Bytes of memory that a JSON document may take, about: its text and all values. Many small values
    /// take several times as much as their text.
    public static let jsonMemory = 32 << 20
    /// The same for a bulk file, of which no picture is drawn.
    public static let bulkMemory = 128 << 20
    /// Values of a JSON document, keys not counted.
    public static let jsonValues = 500_000
    /// Levels of arrays and objects in a JSON document.
    public static let jsonDepth = 64
    /// Bytes of the text of one JSON number.
    public static let jsonNumberBytes = 1_024
    /// Repairs of a JSON document that are listed; later ones are made, but not listed.
    public static let listedRepairs = 1_000

    /// Bytes of a property list or keyed archive.
    public static let propertyListBytes = 1_000_000
    /// Bytes of the strings and data of a property list that are held more than once, but for the
    /// first time each.
    public static let propertyListSharedBytes = 4_000_000
    /// Levels of arrays and dictionaries in a property list.
    public static let propertyListDepth = 64
    /// Objects in the table of a keyed archive.
    public static let archiveObjects = 10_000
    /// Bytes of the values of a keyed archive that nobody here knows and that are kept: many
    /// entries can share one string, and each is written on its own.
    public static let archiveOtherBytes = 1_000_000
    /// Levels of containers in a keyed archive, counted from its root.
    public static let archiveDepth = 8

    /// Solids and groups of a scene.
    public static let sceneNodes = 10_000
    /// Levels of groups in a scene.
    public static let sceneDepth = 16
    /// Unicode scalars of a title or of the name of a solid or group.
    public static let nameLength = 1_024
    /// The greatest number in a scene: beyond all 32-bit reals, taken as radians too.
    public static let sceneNumber = 1e41

    /// How far edits bring a camera from what it looks at, in units of the scene. Files can hold
    /// any number.
    public static let cameraDistance = 1e-6...1e9

    /// Elements of a slide, those of chains included.
    public static let slideElements = 50_000
    /// Width and height of a slide's canvas.
    public static let canvasSide = 100_000
    /// Slides or addresses in a bulk file.
    public static let bulkEntries = 10_000

    /// Items of a list that is written: each is three objects of its archive, besides seven.
    public static let listItems = (archiveObjects - 7) / 3
    /// Bytes of the text of a list's item, as UTF-8.
    public static let itemTextBytes = 65_536
    /// Bytes of the texts of a list's items together, as UTF-8: a file can share one text.
    public static let listTextBytes = 2_000_000
    /// Bytes of a text that is read as a list's items.
    public static let interchangeBytes = 1_000_000

    /// Bytes of the text that is kept of a document for searching, as UTF-8.
    public static let searchTextBytes = 256 << 10
}
