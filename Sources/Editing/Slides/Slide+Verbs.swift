import Documents

extension Slide {
    /// Does what a verb says with the words after it.
    mutating func perform(_ verb: String, _ words: inout Arguments) throws(EditError) {
        switch verb {
        case "set": try set(try words.assignments().map { ($0.path, $0.value) })
        case "unset": try set(try words.paths().map { ($0, nil) })
        case "add": try add(&words)
        case "remove":
            for index in try find(&words).reversed() { elements.remove(at: index) }
        case "rename": try rename(&words)
        case "move": try move(&words)
        case "rotate": try rotate(&words)
        case "scale": try scale(&words)
        case "color": try color(&words)
        case "duplicate": try duplicate(&words)
        case "order":
            let place = try words.last("front, back, forward, backward or a number")
            let index = try findOne(&words)
            let new = try Order.place(place, of: index, among: elements.count)
            elements.insert(elements.remove(at: index), at: new)
        case "ungroup": try unchain(&words)
        case "chain": try chain(&words)
        case "align": try align(&words)
        case "distribute": try distribute(&words)
        case "text": try changeText(&words)
        case "background", "title":
            let text = try words.next(verb == "title" ? "TEXT" : "COLOR")
            try words.end()
            try set([(verb, text)])
        default: throw words.misuse("not for slides")
        }
    }

    /// The elements of all targets that are left.
    func find(_ words: inout Arguments) throws(EditError) -> [Int] {
        let found = try SlideParts(elements).find(try words.targets())
        try words.end()
        return found
    }

    /// The element of the one target that is left.
    func findOne(_ words: inout Arguments) throws(EditError) -> Int {
        let found = try SlideParts(elements).findOne(try words.target())
        try words.end()
        return found
    }

    private func checkIsFree(_ name: String) throws(EditError) {
        let names = Set(elements.compactMap(\.comment))
        guard name.isEmpty || !names.contains(name) else {
            throw EditError(
                .data, at: name,
                "an element is called so already; free is '\(NodeName.free(name, among: names))'")
        }
    }

    private mutating func add(_ words: inout Arguments) throws(EditError) {
        let type = try EditableDocument.kind(try words.next("KIND"), for: .slide)
        let (name, pairs) = try words.nameAndPairs()
        var element = SlideElement.template(type, on: canvas)
        if let name {
            try checkIsFree(name)
            element.json["comment"] = .string(name)
            // `add page.slide text Hello` means what is to be read.
            if type == "text", !name.isEmpty { element.json["text"] = .string(name) }
        }
        for pair in pairs {
            try located(pair.key) { () throws(EditError) in
                try element.set(pair.key, to: pair.value)
            }
        }
        elements.append(element)
    }

    private mutating func rename(_ words: inout Arguments) throws(EditError) {
        let name = EscapedText.unescaped(try words.last("NAME"))
        let index = try findOne(&words)
        let former = elements[index].comment
        guard !former.isExactly(name) else { return }
        // The same name otherwise composed is its own.
        if name != former { try checkIsFree(name) }
        elements[index].json["comment"] = .string(name)
    }

    private mutating func duplicate(_ words: inout Arguments) throws(EditError) {
        let index = try SlideParts(elements).findOne(try words.target())
        let name = words.isEmpty ? nil : EscapedText.unescaped(try words.next("NAME"))
        try words.end()
        var copy = elements[index]
        if let name {
            try checkIsFree(name)
            copy.json["comment"] = .string(name)
        } else if let comment = copy.comment, !comment.isEmpty {
            let names = Set(elements.compactMap(\.comment))
            copy.json["comment"] = .string(NodeName.free(comment, among: names))
        }
        elements.insert(copy, at: index + 1)
    }

    private mutating func changeText(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let found = try parts.find(try words.target(leaving: 1))
        let text = try words.next("TEXT")
        try words.end()
        for index in found {
            guard elements[index].shapeType == "text" else {
                throw EditError(
                    .data, at: parts.index.path(of: index),
                    "\(elements[index].noun) has no text; see add text")
            }
            try elements[index].set("text", to: text)
        }
    }
}
