import Documents

/// What a path of a slide leads to, and the key there.
private enum SlidePlace {
    case document(String)
    /// An element, or one in a chain.
    case element(Int, link: Int?, String)
}

/// Finds what paths of a slide lead to. Many are looked for in the same tables.
private struct SlideFinder {
    private let slide: Slide
    private let parts: SlideParts
    /// How what is in chains is found, of those that were asked for; nil if there is nothing in it.
    private var chains: [Int: PartIndex?] = [:]

    init(_ slide: Slide) {
        self.slide = slide
        parts = SlideParts(slide.elements)
    }

    static func place(_ path: String, in slide: Slide) throws(EditError) -> SlidePlace {
        var finder = SlideFinder(slide)
        return try finder.place(path)
    }

    mutating func place(_ path: String) throws(EditError) -> SlidePlace {
        if let place = try find(path) { return place }
        let names = slide.elements.indices.map { parts.index.path(of: $0) }
        let head = String(path.prefix { $0 != "." })
        throw EditError(
            .notFound, at: path,
            NearNames.unknown("path", head, among: slide.fields.map(\.key) + names))
    }

    /// `nil` if the path leads nowhere.
    mutating func find(_ path: String) throws(EditError) -> SlidePlace? {
        let head = String(path.prefix { $0 != "." })
        if slide.fields.contains(where: { $0.isCalled(head) }) { return .document(path) }
        guard let (index, key) = try parts.index.split(path) else { return nil }
        return try inner(index, key)
    }

    private mutating func inner(_ index: Int, _ key: String) throws(EditError) -> SlidePlace {
        if chains[index] == nil { chains[index] = .some(slide.elements[index].linkIndex) }
        if let links = chains[index] ?? nil, let (link, inner) = try links.split(key) {
            return .element(index, link: link, inner)
        }
        return .element(index, link: nil, key)
    }
}

extension Slide {
    func values(at paths: [String]) throws(EditError) -> [FieldValue] {
        var finder = SlideFinder(self)
        return try paths.map { (path) throws(EditError) in
            try located(path) { () throws(EditError) in try value(at: try finder.place(path)) }
        }
    }

    private func value(at place: SlidePlace) throws(EditError) -> FieldValue {
        switch place {
        case .document(let key): return try value(of: key)
        case .element(let index, let link, let key):
            let element = link.flatMap { elements[index].link(at: $0) } ?? elements[index]
            return try element.value(of: key)
        }
    }

    /// What a key of an element is: one of its own, or that of an element in a chain.
    private func inner(_ index: Int, _ key: String) throws(EditError) -> SlidePlace {
        if let (link, inner) = try elements[index].linkIndex?.split(key) {
            return .element(index, link: link, inner)
        }
        return .element(index, link: nil, key)
    }

    /// Sets the values at paths; nil takes one away. The paths mean what they mean before all of it; one
    /// that leads nowhere then is looked for when its turn comes.
    mutating func set(_ values: [(path: String, value: String?)]) throws(EditError) {
        var before = SlideFinder(self)
        for (path, value) in values {
            try located(path) { () throws(EditError) in
                let place =
                    switch try? before.find(path) {
                    // It may be a chain by now.
                    case .element(let index, nil, let key)?: try inner(index, key)
                    case let former? where isThere(former): former
                    default: try SlideFinder.place(path, in: self)
                    }
                try set(at: place, to: value)
            }
        }
    }

    /// Whether what was in a chain still is.
    private func isThere(_ place: SlidePlace) -> Bool {
        guard case .element(let index, let link?, _) = place else { return true }
        return elements[index].link(at: link) != nil
    }

    private mutating func set(at place: SlidePlace, to text: String?) throws(EditError) {
        switch place {
        case .document(let key): try set(key, to: text)
        case .element(let index, nil, let key): try elements[index].set(key, to: text)
        case .element(let index, let link?, let key):
            guard var inner = elements[index].link(at: link) else { return }
            let isOrigin = try inner.field(key).field.key.hasPrefix("origin")
            if text == nil, isOrigin {
                // Of what is in a chain only the end counts.
                inner.json[try inner.field(key).field.key] = nil
            } else {
                try inner.set(key, to: text)
            }
            elements[index].setLink(link, inner)
        }
    }

    var paths: [(path: String, value: FieldValue)] {
        var paths = listing.map { (path: $0.key, value: $0.value) }
        let parts = SlideParts(elements)
        for (index, element) in elements.enumerated() {
            let head = parts.index.path(of: index)
            paths += element.listing.map { (path: "\(head).\($0.key)", value: $0.value) }
            for (link, inner) in element.links.enumerated() {
                paths += inner.listing.map {
                    (path: "\(head).element.\(link + 1).\($0.key)", value: $0.value)
                }
            }
        }
        return paths
    }
}

extension SlideElement {
    /// The elements of a chain; none of any other element, nor where one is no object.
    var links: [SlideElement] {
        guard shapeType == "chain", let values = json["elements"]?.array else { return [] }
        let objects = values.compactMap(\.object)
        return objects.count == values.count ? objects.map { SlideElement($0) } : []
    }

    /// How what is in a chain is found; nil if there is nothing in it.
    fileprivate var linkIndex: PartIndex? {
        let links = links
        return links.isEmpty ? nil : SlideParts(links).index
    }

    /// The element of a chain at a place, without a pass over the others; nil if there is none.
    fileprivate func link(at index: Int) -> SlideElement? {
        guard shapeType == "chain", let values = json["elements"]?.array,
            values.indices.contains(index)
        else { return nil }
        return values[index].object.map { SlideElement($0) }
    }

    /// Changes every element of a chain. What is none stays, as it draws nothing.
    mutating func changeLinks(
        _ body: (inout SlideElement) throws(EditError) -> Void
    ) throws(EditError) {
        guard shapeType == "chain", var values = json["elements"]?.array else { return }
        for index in values.indices {
            guard var link = values[index].object.map({ SlideElement($0) }) else { continue }
            try body(&link)
            values[index] = .object(link.json)
        }
        json["elements"] = .array(values)
    }

    /// Puts another element into a chain for the one that was there.
    mutating func setLink(_ index: Int, _ link: SlideElement) {
        guard var values = json["elements"]?.array else { return }
        // Held once, it is changed in place.
        json["elements"] = .null
        values[index] = .object(link.json)
        json["elements"] = .array(values)
    }
}
