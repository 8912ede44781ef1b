import Documents

extension Slide {
    /// What a path leads to, and the key there.
    private enum Place {
        case document(String)
        /// An element, or one in a chain.
        case element(Int, link: Int?, String)
    }

    private func place(_ path: String) throws(EditError) -> Place {
        let parts = SlideParts(elements)
        if let place = try find(path, parts) { return place }
        let names = elements.indices.map { parts.index.path(of: $0) }
        let head = String(path.prefix { $0 != "." })
        throw EditError(
            .notFound, at: path, NearNames.unknown("path", head, among: names + fields.map(\.key)))
    }

    /// `nil` if the path leads nowhere.
    ///
    /// - Parameter parts: those of the slide as it is.
    private func find(_ path: String, _ parts: SlideParts) throws(EditError) -> Place? {
        let head = String(path.prefix { $0 != "." })
        if fields.contains(where: { $0.isCalled(head) }) { return .document(path) }
        guard let (index, key) = try parts.index.split(path) else { return nil }
        return try inner(index, key)
    }

    /// What a key of an element is: one of its own, or that of an element in a chain.
    private func inner(_ index: Int, _ key: String) throws(EditError) -> Place {
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

    /// Sets the values at paths; nil takes one away. The paths mean what they mean before all of it; one
    /// that leads nowhere then is looked for when its turn comes.
    mutating func set(_ values: [(path: String, value: String?)]) throws(EditError) {
        let before = self
        let parts = SlideParts(elements)
        for (path, value) in values {
            try located(path) { () throws(EditError) in
                let place =
                    switch try? before.find(path, parts) {
                    // It may be a chain by now.
                    case .element(let index, nil, let key)?: try inner(index, key)
                    case let former? where isThere(former): former
                    default: try self.place(path)
                    }
                try set(at: place, to: value)
            }
        }
    }

    /// Whether what was in a chain still is.
    private func isThere(_ place: Place) -> Bool {
        guard case .element(let index, let link?, _) = place else { return true }
        return link < elements[index].links.count
    }

    private mutating func set(at place: Place, to text: String?) throws(EditError) {
        switch place {
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
