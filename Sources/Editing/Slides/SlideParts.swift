import Documents

/// The elements of a slide, and how they are found.
struct SlideParts: Selectable {
    private let elements: [SlideElement]
    let index: PartIndex

    init(_ elements: [SlideElement]) {
        self.elements = elements
        index = PartIndex(
            elements.map(\.outline), noun: "element", kinds: ElementKeys.types + ["element"],
            reserved: SlideParts.reserved)
    }

    static let reserved: Set = [
        "all", "canvas", "title", "background", "bgcolor", "color", "author", "description",
        "desc", "summary", "type", "canvaswidth", "canvasheight",
    ]

    func collection(_ word: String) -> [Int]? { word == "all" ? Array(elements.indices) : nil }

    var count: Int { elements.count }

    func matches(_ pair: KeyValue) -> [Bool?] {
        var matchers = FieldMatchers<SlideElement, String?>(pair)
        return elements.map { matchers.matches($0, of: $0.shapeType) }
    }

    var selectorKeys: [String] {
        ElementKeys.values.keys.map { $0.lowercased() }.sorted()
            + ["type", "stroke", "fill", "color", "position", "size", "end", "name"]
    }

    func refusals(of pair: KeyValue) -> [String?] {
        ElementKeys.types.map { SlideElement.template($0, on: .standard) }.refusals(of: pair)
    }
}

extension SlideElement {
    /// What it is found by.
    var outline: PartIndex.Outline {
        PartIndex.Outline(
            name: comment ?? "",
            kind: shapeType.flatMap { ElementKeys.types.contains($0) ? $0 : nil })
    }
}
