import Drawing
import Editor
import Terminal

extension BrowserState {
    /// Takes an event into account; what is to be done.
    package mutating func update(_ event: BrowserEvent) -> [BrowserEffect] {
        let former = filter
        let effects = follow(event)
        keepInSight()
        // There may be others whose names hold what is typed now.
        return filter == former || isWhole ? effects : effects + [.look]
    }

    private mutating func follow(_ event: BrowserEvent) -> [BrowserEffect] {
        switch event {
        case .input(.key(let key, let modifiers)): return take(key, modifiers)
        case .input(.paste(let text)):
            type(text.filter { !$0.isNewline })
            return []
        case .input(.oversizedPaste(let bytes)):
            (message, isBad) = ("a text of \(bytes) bytes is no name: nothing was pasted", true)
        case .input(.mouse(let mouse)): return take(mouse)
        case .input(.reply): return []
        case .resized(let shape):
            self.shape = shape
            return [.redraw]
        case .listed(let entries, let isWhole, let problem): list(entries, isWhole, problem)
        case .inspected(let found):
            // A promise that has come is drawn.
            for key in standIns {
                let item = key.version.item
                if let new = found[item], new.state != details[item]?.state { forget(key) }
            }
            details.merge(found) { $1 }
        case .titled(let found): titles = found
        case .pictured(let version, let size, let bitmap, let isStandIn):
            let key = PictureKey(version: version, size: size)
            keep(bitmap, key)
            if isStandIn { standIns.insert(key) } else { standIns.remove(key) }
        case .done(let text, let isBad, let path):
            (message, self.isBad) = (text, isBad)
            if let path { awaited = path }
            return [.look]
        }
        return []
    }

    /// The selection stays with its document, wherever that went; if it is gone, the one that took
    /// its place is selected.
    private mutating func list(_ new: [BrowserEntry], _ isWhole: Bool, _ problem: String?) {
        if let problem {
            (message, isBad, listProblem) = (problem, true, problem)
            return
        }
        // It is there again, as after its container was mounted anew.
        if message == listProblem.take() { (message, isBad) = ("", false) }
        let shelves = Shelves(self)
        let index = selection.flatMap { shelves.places.firstIndex(of: $0) }
        let former = selected
        entries = Self.sorted(new)
        isListed = true
        self.isWhole = isWhole
        let known = Set(entries.map(\.item))
        details = details.filter { known.contains($0.key) }
        let places = Shelves(self).places
        if let awaited, let entry = entries.first(where: { $0.path == awaited }) {
            self.awaited = nil
            selection = Place(section: .all, document: entry.identity)
        }
        if let selection, places.contains(selection) { return }
        if let former, known.contains(former.item) {
            // Of several names of one file the one that was selected, if it is still there.
            let same = entries.filter { $0.item == former.item }
            let entry = same.first { $0.path == former.path } ?? same.first
            selection = places.first { $0.document == entry?.identity }
        } else {
            selection = places.isEmpty ? nil : places[min(index ?? 0, places.count - 1)]
        }
    }

    /// By name as people sort names, wherever the documents are: the case of letters does not count,
    /// but where all else is equal. Those that share a number are told apart by their paths.
    private static func sorted(_ new: [BrowserEntry]) -> [BrowserEntry] {
        var counts: [UInt64: Int] = [:]
        for entry in new { counts[entry.item, default: 0] += 1 }
        let keyed = new.map { entry in
            var entry = entry
            let isShared = (counts[entry.item] ?? 0) > 1
            entry.identity = BrowserIdentity(item: entry.item, path: isShared ? entry.path : nil)
            return (entry: entry, name: entry.name.lowercased())
        }
        return keyed.sorted { ($0.name, $0.entry.path) < ($1.name, $1.entry.path) }.map(\.entry)
    }

    private mutating func keep(_ bitmap: Bitmap?, _ key: PictureKey) {
        if pictures.updateValue(bitmap, forKey: key) == nil { pictureOrder.append(key) }
        while pictureOrder.count > Self.pictureLimit {
            forget(pictureOrder[0])
        }
    }

    /// Looks for pictures that were not there again.
    package mutating func retryPictures() {
        for (key, bitmap) in pictures where bitmap == nil { forget(key) }
    }

    private mutating func forget(_ key: PictureKey) {
        pictures.removeValue(forKey: key)
        pictureOrder.removeAll { $0 == key }
        standIns.remove(key)
    }
}
