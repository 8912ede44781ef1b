import Documents

extension Slide {
    private static let keys: Set = [
        "elements", "bgcolor", "title", "author", "description", "desc", "canvasWidth",
        "canvasHeight",
    ]

    /// What is worth knowing about it though nothing is wrong: keys nobody here knows.
    var remarks: [String] {
        var remarks = UnknownKeys.remarks(of: root, known: Slide.keys) { $0 }
        let parts = SlideParts(elements)
        for (index, element) in elements.enumerated() where remarks.count < Limits.listedRepairs {
            let path = parts.index.path(of: index)
            remarks += element.unknownKeys { "\(path).\($0)" }
            for (number, link) in element.links.enumerated() {
                remarks += link.unknownKeys { "\(path).element.\(number + 1).\($0)" }
            }
        }
        return remarks
    }
}

extension SlideElement {
    /// The keys that elements of its type do not have.
    fileprivate func unknownKeys(at path: (String) -> String) -> [String] {
        let known = ElementKeys.keys(of: shapeType) + (shapeType == "chain" ? ["elements"] : [])
        return UnknownKeys.remarks(of: json, known: Set(known), at: path)
    }
}
