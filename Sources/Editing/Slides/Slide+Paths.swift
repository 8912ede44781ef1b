import Documents

extension Slide {
    /// What a path leads to, and the key there.
    private enum Place {
        case document(String)
        /// An element, or one in a chain.
        case element(Int, link: Int?, String)
    }

    private func place(_ path: String) throws(EditError) -> Place {
        let head = String(path.prefix { $0 != "." })
        if fields.contains(where: { $0.isCalled(head) }) { return .document(path) }
        let parts = SlideParts(elements)
        guard let (index, key) = try parts.index.split(path) else {
            let names = elements.indices.map { parts.index.path(of: $0) }
            throw EditError(
                .notFound, at: path,
                NearNames.unknown("path", head, among: names + fields.map(\.key)))
        }
        let links = elements[index].links
        if !links.isEmpty, let (link, inner) = try SlideParts(links).index.split(key) {
            return .element(index, link: link, inner)
        }
        return .element(index, link: nil, key)
    }

    func value(at path: String) throws(EditError) -> FieldValue {
        do throws(EditError) {
            switch try place(path) {
            case .document(let key): return try value(of: key)
            case .element(let index, nil, let key): return try elements[index].value(of: key)
            case .element(let index, let link?, let key):
                return try elements[index].links[link].value(of: key)
            }
        } catch {
            throw error.at(path)
        }
    }

    /// Sets the value at a path; nil takes it away.
    mutating func set(at path: String, to text: String?) throws(EditError) {
        do throws(EditError) {
            switch try place(path) {
            case .document(let key): try set(key, to: text)
            case .element(let index, nil, let key): try elements[index].set(key, to: text)
            case .element(let index, let link?, let key):
                var inner = elements[index].links[link]
                let isOrigin = try inner.field(key).field.key.hasPrefix("origin")
                if text == nil, isOrigin {
                    // Of what is in a chain only the end counts.
                    inner.json[try inner.field(key).field.key] = nil
                } else {
                    try inner.set(key, to: text)
                }
                elements[index].setLink(link, inner)
            }
        } catch {
            throw error.at(path)
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

    /// Changes every element of a chain.
    mutating func changeLinks(
        _ body: (inout SlideElement) throws(EditError) -> Void
    ) throws(EditError) {
        var links = links
        guard !links.isEmpty else { return }
        for index in links.indices { try body(&links[index]) }
        json["elements"] = .array(links.map { .object($0.json) })
    }

    /// Puts another element into a chain for the one that was there.
    mutating func setLink(_ index: Int, _ link: SlideElement) {
        guard var values = json["elements"]?.array else { return }
        values[index] = .object(link.json)
        json["elements"] = .array(values)
    }
}
