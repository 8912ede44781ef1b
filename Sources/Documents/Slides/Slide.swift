/// A `.slide` document: elements on a canvas.
///
/// A pure value over ordered JSON: unknown keys and the order of all stay as they were.
public struct Slide: Hashable, Sendable {
    /// The elements in the order they are drawn.
    public var elements: [SlideElement]
    /// The root object with all its keys, in order; what it has under `elements` does not count.
    public var root: JSONObject

    /// A new slide.
    public init(title: String = "", elements: [SlideElement] = []) {
        self.elements = elements
        root = ["elements": .array([]), "bgcolor": .string("#FFFFFF"), "title": .string(title)]
    }

    /// A slide of a root object without its elements, and of the elements.
    init(root: JSONObject, elements: [SlideElement]) {
        self.root = root
        self.elements = elements
    }
}

extension Slide {
    /// What a list of slides shows; nil removes it.
    public var title: String? {
        get { root["title"]?.string }
        set { root["title"] = newValue.map { .string($0) } }
    }

    /// Who made it.
    public var author: String? { root["author"]?.string }
    /// What it is about; some documents say `desc`.
    public var summary: String? { root["description"]?.string ?? root["desc"]?.string }

    /// The colour behind all elements; nil if there is none or it is not a colour.
    public var background: Color? {
        get { root["bgcolor"]?.string.flatMap { Color($0) } }
        set { root["bgcolor"] = newValue.map { .string($0.description) } }
    }

    /// The size of a canvas, in its own units.
    public struct CanvasSize: Hashable, Sendable {
        /// The width, 1 to `Limits.canvasSide`.
        public let width: Int
        /// The height, 1 to `Limits.canvasSide`.
        public let height: Int

        /// A size; nil if a side is not within the limits.
        public init?(width: Int, height: Int) {
            guard (1...Limits.canvasSide).contains(width), (1...Limits.canvasSide).contains(height)
            else { return nil }
            self.init(checkedWidth: width, height: height)
        }

        private init(checkedWidth: Int, height: Int) {
            self.width = checkedWidth
            self.height = height
        }

        /// The size of a canvas that gives none.
        public static let standard = CanvasSize(checkedWidth: 4000, height: 3000)
    }

    /// The size of the canvas. The two keys count only together, and only if both are whole
    /// numbers within the limits; otherwise it is 4000 by 3000.
    public var canvas: CanvasSize {
        get {
            guard let width = root["canvasWidth"]?.integer,
                let height = root["canvasHeight"]?.integer
            else { return .standard }
            return CanvasSize(width: width, height: height) ?? .standard
        }
        set {
            root["canvasWidth"] = .integer(newValue.width)
            root["canvasHeight"] = .integer(newValue.height)
        }
    }
}
