import Documents

/// The elements of a slide, and how they are found.
struct SlideParts: Selectable {
    private let elements: [SlideElement]
    let index: PartIndex

    init(_ elements: [SlideElement]) {
        self.elements = elements
        var counts: [String: Int] = [:]
        let parts = elements.enumerated().map { number, element in
            var part = PartIndex.Part(
                name: element.comment ?? "", label: PartLabel("element", number + 1))
            if let type = element.shapeType, ElementKeys.types.contains(type) {
                counts[type, default: 0] += 1
                part.otherLabel = PartLabel(type, counts[type, default: 0])
            }
            return part
        }
        index = PartIndex(
            parts, noun: "element", kinds: ElementKeys.types + ["element"],
            reserved: SlideParts.reserved)
    }

    private static let reserved: Set = [
        "all", "canvas", "title", "background", "bgcolor", "color", "author", "description",
        "desc", "summary", "type",
    ]

    func collection(_ word: String) -> [Int]? { word == "all" ? Array(elements.indices) : nil }

    var count: Int { elements.count }

    func matches(_ index: Int, _ pair: KeyValue) -> Bool? { elements[index].matches(pair) }

    var selectorKeys: [String] {
        ElementKeys.values.keys.map { $0.lowercased() }.sorted()
            + ["type", "stroke", "fill", "color", "position", "size", "end", "name"]
    }
}
