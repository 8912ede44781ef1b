extension BookmarkFile {
    /// Applies what an order says.
    mutating func apply(_ order: RecentFilesOrder) {
        move(order.moved)
        remove(order.removed) { _ in true }
        remove(order.strays) { $0.application != nil }
        var places: [[UInt8]: [Int]] = [:]
        for index in entries.indices where !entries[index].isRemoved {
            if let path = place(index) { places[path, default: []].append(index) }
        }
        for document in order.documents {
            guard let found = places[document.path] else {
                added.append((document.path, document.opened))
                continue
            }
            // Whoever opens a document registers it a moment later, and says as much as we would.
            for index in found where document.opened > entries[index].moment + 1 {
                entries[index].opened = document.opened
            }
        }
    }

    /// Has entries go that are not later than told, and that `condition` holds for.
    private mutating func remove(
        _ documents: [RecentFilesOrder.Document], where condition: (Entry) -> Bool
    ) {
        let removed = Dictionary(documents.map { ($0.path, $0.opened) }) { max($0, $1) }
        for index in entries.indices {
            if let path = place(index), let last = removed[path], entries[index].moment <= last,
                condition(entries[index])
            {
                entries[index].isRemoved = true
            }
        }
    }

    /// All at once: two may have changed places. What was where one comes to gives way.
    private mutating func move(_ moved: [RecentFilesOrder.Move]) {
        let targets = Dictionary(moved.map { ($0.from, $0.to) }) { $1 }
        var taken: Set<[UInt8]> = []
        for index in entries.indices {
            guard let path = entries[index].path, let target = targets[path] else { continue }
            entries[index].newPath = target
            taken.insert(target)
        }
        for index in entries.indices where entries[index].newPath == nil {
            if let path = entries[index].path, taken.contains(path) {
                entries[index].isRemoved = true
            }
        }
    }

    /// Where an entry leads to from now on.
    func place(_ index: Int) -> [UInt8]? { entries[index].newPath ?? entries[index].path }

    /// Whether the text becomes another one.
    var isChanged: Bool {
        !added.isEmpty
            || entries.contains { $0.isRemoved || $0.newPath != nil || $0.opened != nil }
    }

    /// The text with all changes.
    ///
    /// - Parameter type: tells the MIME type of a path.
    func text(type: ([UInt8]) -> String) -> [UInt8] {
        guard let end else {
            // Nothing is lost: there was no entry.
            var anew = self
            anew = (try? BookmarkFile(BookmarkXML.empty)) ?? anew
            anew.added = added
            return anew.end == nil ? bytes : anew.text(type: type)
        }
        var edits: [(range: Range<Int>, text: [UInt8])] = []
        for entry in entries { edits += self.edits(of: entry) }
        if !added.isEmpty {
            for (name, place) in missingNamespaces {
                let value = BookmarkXML.namespaces.first { $0.name == name }?.value ?? ""
                edits.append((place..<place, Array(" \(name)=\"\(value)\"".utf8)))
            }
            let text = added.flatMap { BookmarkXML.entry($0.path, $0.opened, type: type($0.path)) }
            edits.append((end..<end, text))
        }
        var result: [UInt8] = []
        var position = 0
        // Stable: what goes to one place keeps its order.
        for (range, text) in edits.enumerated().sorted(by: {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }).map(\.element) {
            result += bytes[position..<range.lowerBound]
            result += text
            position = range.upperBound
        }
        return result + bytes[position...]
    }

    private func edits(of entry: Entry) -> [(range: Range<Int>, text: [UInt8])] {
        if entry.isRemoved {
            // With the space before it.
            var start = entry.range.lowerBound
            while start > 0, MarkupScanner.isSpace(bytes[start - 1]) { start -= 1 }
            return [(start..<entry.range.upperBound, [])]
        }
        var edits: [(range: Range<Int>, text: [UInt8])] = []
        if let path = entry.newPath { edits.append((entry.href, BookmarkXML.href(path))) }
        guard let opened = entry.opened else { return edits }
        let time = Array(BookmarkTime.text(opened).utf8)
        for name in ["modified", "visited"] {
            if let value = entry.attributes[name] {
                edits.append((value, time))
            } else {
                let place = entry.attributesEnd
                edits.append((place..<place, Array(" \(name)=\"".utf8) + time + [0x22]))
            }
        }
        if let own = entry.application {
            if let value = own["modified"] { edits.append((value, time)) }
            if let value = own["count"],
                let count = Int(String(decoding: bytes[value], as: UTF8.self)), count < Int.max
            {
                edits.append((value, Array(String(count + 1).utf8)))
            }
        } else if let place = entry.applicationsEnd {
            edits.append((place..<place, BookmarkXML.application(opened)))
        }
        return edits
    }
}
