import Documents

extension Slide {
    mutating func chain(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let targets = try words.targets()
        let join = words.option(["join"])
        try words.end()
        let joins = try located("chain") { () throws(EditError) in
            try ValueText.boolean(join?.value ?? "no")
        }
        // In the order they are named, as that is the way the chain goes.
        var found: [Int] = []
        for target in targets {
            found += try parts.find(target).filter { !found.contains($0) }
        }
        var links: [JSONValue] = []
        var end: SlidePoint?
        for index in found {
            let element = elements[index]
            let path = parts.index.path(of: index)
            guard element.shapeType == "line" || element.shapeType == "curve" else {
                throw EditError(
                    .data, at: path, "\(element.noun) where a line or curve is expected")
            }
            let start = try located(path) { () throws(EditError) in try element.origin() }
            if let end, !joins, !start.isNear(end) {
                throw EditError(
                    .data, at: path,
                    "it begins at \(ValueText.text([start.x, start.y])), but what is before it ends "
                        + "at \(ValueText.text([end.x, end.y])); move it there, or add join=yes")
            }
            end = SlidePoint(
                element.json["endx"]?.double ?? 0, element.json["endy"]?.double ?? 0)
            links.append(.object(element.json))
        }
        guard found.count > 1 else {
            throw EditError(.data, at: "chain", "1 element where at least 2 are expected")
        }
        let origin = try elements[found[0]].origin()
        var chain: JSONObject = ["shapeType": .string("chain")]
        chain["originx"] = .number(origin.x)
        chain["originy"] = .number(origin.y)
        chain["elements"] = .array(links)
        let place = found.min() ?? 0
        let members = Set(found)
        elements = elements.indices.filter { !members.contains($0) }.map { elements[$0] }
        elements.insert(SlideElement(chain), at: place)
    }

    /// Puts the parts of a chain in its place, each with an origin of its own.
    mutating func unchain(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let index = try findOne(&words)
        let path = parts.index.path(of: index)
        let links = elements[index].links
        guard !links.isEmpty else {
            throw EditError(
                .data, at: path, "\(elements[index].noun) where a chain of elements is expected")
        }
        var start = try located(path) { () throws(EditError) in try elements[index].origin() }
        var alone: [SlideElement] = []
        for (number, link) in links.enumerated() {
            var link = link
            try located("\(path).element.\(number + 1)") { () throws(EditError) in
                try link.setNumber("originx", start.x)
                try link.setNumber("originy", start.y)
                guard link.shape != nil, let x = link.json["endx"]?.double,
                    let y = link.json["endy"]?.double
                else { throw EditError(.data, "it draws nothing") }
                start = SlidePoint(x, y)
            }
            alone.append(link)
        }
        elements.replaceSubrange(index...index, with: alone)
    }
}

extension SlidePoint {
    /// Whether nobody could see the difference.
    fileprivate func isNear(_ other: SlidePoint) -> Bool {
        (x - other.x).magnitude <= 0.001 && (y - other.y).magnitude <= 0.001
    }
}
