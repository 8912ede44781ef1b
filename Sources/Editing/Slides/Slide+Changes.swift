import Documents
import PathText

extension Slide {
    /// What is different in another slide.
    func changes(to other: Slide, inPlace: Bool) -> [Change] {
        let rootChanges = UnknownKeys.changes(root, other.root, known: ["elements"]) {
            Slide.pathsOfKeys[$0] ?? $0
        }
        guard elements != other.elements else { return rootChanges }
        let old = SlideParts(elements)
        let new = SlideParts(other.elements)
        // An edit leaves most elements as they were, and a script compares all after each line.
        let same = PartMatching.countEqual(elements, other.elements)
        let isInPlace = inPlace && elements.count == other.elements.count
        let matching =
            isInPlace
            ? PartMatching(inPlace: elements.count)
            : PartMatching(
                elements, other.elements, after: same,
                identity: { $0.comment.map { "\($0)" } }, kind: { $0.shapeType })
        var changes = rootChanges
        for index in elements.indices[same...] where matching.newOfOld[index] == nil {
            let words = elements[index].words
            changes.append(Change(.part, old.index.path(of: index), before: words, after: nil))
        }
        let row = matching.oldOfNew.enumerated().compactMap { new, old in old.map { (new, $0) } }
        let moved = isInPlace ? [] : PartMatching.moved(row)
        for index in other.elements.indices[same...] {
            let element = other.elements[index]
            if let former = matching.oldOfNew[index], !moved.contains(index),
                elements[former] == element
            {
                continue
            }
            let path = new.index.path(of: index)
            guard let former = matching.oldOfNew[index] else {
                changes.append(Change(.part, path, before: nil, after: element.words))
                continue
            }
            if moved.contains(index) {
                changes.append(
                    Change(
                        .place, path, before: "place \(former + 1)", after: "place \(index + 1)"))
            }
            changes += elements[former].changes(to: element) {
                "\($0 == "comment" ? old.index.path(of: former) : path).\($0)"
            }
        }
        return changes
    }

    /// The paths of keys that have another one.
    private static let pathsOfKeys = [
        "bgcolor": "background", "canvasWidth": "canvas.width", "canvasHeight": "canvas.height",
    ]

    /// What it holds, one fact a line.
    var facts: [String] {
        let parts = SlideParts(elements)
        var facts = ["slide of \(Count.words(elements.count, "element"))"]
        facts += listing.map { "\($0.key): \($0.value)" }
        facts += elements.indices.map { "\(parts.index.path(of: $0)): \(elements[$0].words)" }
        return facts
    }
}

extension SlideElement {
    /// What is different in another element; in a chain of as many parts, in each of them.
    func changes(to other: SlideElement, at path: (String) -> String) -> [Change] {
        let (links, otherLinks) = (links, other.links)
        let isAlike = !links.isEmpty && links.count == otherLinks.count
        let changes = UnknownKeys.changes(
            json, other.json, known: isAlike ? ["elements"] : [], at: path)
        guard isAlike else { return changes }
        return links.indices.reduce(into: changes) { changes, index in
            changes += links[index].changes(to: otherLinks[index]) {
                path("element.\(index + 1).\($0)")
            }
        }
    }

    /// It in a few words.
    var words: String {
        var words = [shapeType ?? "element without a type"]
        if let text = json["text"]?.string {
            words.append("'\(EscapedText.escaped(String(text.prefix(40))))'")
        }
        if let x = json["originx"]?.double, let y = json["originy"]?.double {
            words.append("at \(ValueText.text([x, y]))")
        }
        if !links.isEmpty { words.append("of \(links.count)") }
        return words.joined(separator: " ")
    }
}
