import Documents

extension Slide {
    mutating func color(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let found = try parts.find(try words.target(leaving: 1))
        var colors: [(key: String, value: String)] = []
        while let pair = words.option(["fill", "stroke"]) { colors.append((pair.key, pair.value)) }
        if colors.isEmpty { colors.append(("color", try words.next("COLOR"))) }
        try words.end()
        for index in found {
            for (key, value) in colors {
                try located("\(parts.index.path(of: index)).\(key)") { () throws(EditError) in
                    try elements[index].setColor(key, value)
                }
            }
        }
    }
}

extension SlideElement {
    /// Sets a colour; that of a chain is that of all its parts.
    fileprivate mutating func setColor(_ key: String, _ value: String) throws(EditError) {
        guard shapeType == "chain" else { return try set(key, to: value) }
        try changeLinks { link throws(EditError) in try link.set(key, to: value) }
    }
}
