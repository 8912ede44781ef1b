import PathText
import Terminal

extension BrowserState {
    mutating func take(_ key: Key, _ modifiers: Modifiers) -> [BrowserEffect] {
        if question != nil { return answer(key, modifiers) }
        message = ""
        isBad = false
        if isHelping {
            isHelping = false
            return [.redraw]
        }
        if modifiers.contains(.control), case .character(let letter) = key {
            return command(letter)
        }
        switch key {
        case .up: move(rows: -1)
        case .down: move(rows: 1)
        case .left: move(by: -1)
        case .right: move(by: 1)
        case .pageUp: move(rows: -pageRows)
        case .pageDown: move(rows: pageRows)
        case .home: selection = Shelves(self).places.first
        case .end: selection = Shelves(self).places.last
        case .enter: return selected.map { [.open($0.path)] } ?? []
        case .delete: if let selected { askToDelete(selected) }
        case .function(1): isHelping = true
        case .function(2): if let selected { askForName(of: selected) }
        case .function(5): return [.look, .redraw]
        case .backspace: setFilter(String(filter.dropLast()))
        case .escape:
            if filter.isEmpty { return [.quit] }
            setFilter("")
        case .character(let letter) where !modifiers.contains(.alt): type(String(letter))
        default: break
        }
        return []
    }

    private mutating func command(_ letter: Character) -> [BrowserEffect] {
        switch letter {
        case "q", "c": return [.quit]
        case "z": return [.suspend]
        case "l": return [.look, .redraw]
        case "n": ask(.create, "Untitled.shape")
        case "r": if let selected { askForName(of: selected) }
        case "d": if let selected { askToDelete(selected) }
        case "e":
            guard let selected else { return [] }
            let isHere = details[selected.item]?.state != "promise"
            return [isHere ? .evict(selected.path) : .materialize(selected.path)]
        case "p":
            guard let selected else { return [] }
            let isPinned = details[selected.item]?.pin == "keep"
            return [.pin(selected.path, isPinned ? "default" : "keep")]
        default: break
        }
        return []
    }

    /// Text goes to the question that is asked, else to the filter.
    mutating func type(_ text: String) {
        if case .delete = question { return }
        if question != nil { answer += text } else { setFilter(filter + text) }
    }

    private mutating func setFilter(_ text: String) {
        filter = text
        let places = Shelves(self).places
        if let selection, places.contains(selection) { return }
        // The same document is found in the other section, perhaps.
        selection = places.first { $0.document == selection?.document } ?? places.first
        firstRow = 0
    }

    // MARK: Questions

    private mutating func ask(_ question: Question, _ text: String = "") {
        self.question = question
        answer = text
    }

    private mutating func askToDelete(_ entry: BrowserEntry) {
        ask(.delete(entry.path, item: entry.item))
    }

    private mutating func askForName(of entry: BrowserEntry) {
        ask(.rename(entry.path, item: entry.item), entry.name)
    }

    private mutating func answer(_ key: Key, _ modifiers: Modifiers) -> [BrowserEffect] {
        if key == .escape || (modifiers == .control && key == .character("c")) {
            question = nil
            return []
        }
        if case .delete(let path, let item) = question {
            question = nil
            return key == .character("y") ? [.delete(path, item: item)] : []
        }
        switch key {
        case .backspace: answer = String(answer.dropLast())
        case .character("u") where modifiers == .control: answer = ""
        case .character(let letter) where modifiers.isEmpty || modifiers == .shift:
            answer.append(letter)
        case .enter:
            guard let question else { return [] }
            if let fault = faultOfAnswer {
                (message, isBad) = (fault, true)
                return []
            }
            self.question = nil
            switch question {
            case .create: return [.create(answer)]
            case .rename(let path, let item):
                let folder = String(path[..<path.lastName.startIndex])
                let new = folder + answer
                return new == path ? [] : [.rename(path, item: item, to: new)]
            case .delete: return []
            }
        default: break
        }
        return []
    }

    /// Why the answer is no name that the browser could show.
    private var faultOfAnswer: String? {
        if answer.isEmpty || answer.hasPrefix("/") || answer == "." || answer == ".." {
            return "this is no name"
        }
        let isHidden = answer.split(separator: "/").contains { $0.hasPrefix(".") && $0 != ".." }
        return isHidden ? "names that begin with a dot are not shown here" : nil
    }

    // MARK: Moving

    private mutating func move(by count: Int) {
        let places = Shelves(self).places
        guard !places.isEmpty else { return }
        let index = selection.flatMap { places.firstIndex(of: $0) } ?? 0
        selection = places[min(max(index + count, 0), places.count - 1)]
    }

    /// To the row above or below, as far as possible in the same column.
    private mutating func move(rows count: Int) {
        let shelves = Shelves(self)
        guard let selection, let (row, column) = shelves.position(of: selection) else {
            self.selection = shelves.places.first
            return
        }
        let filled = shelves.rows.indices.filter { !shelves.rows[$0].places.isEmpty }
        guard let now = filled.firstIndex(of: row) else { return }
        let target = shelves.rows[filled[min(max(now + count, 0), filled.count - 1)]]
        self.selection = target.places[min(column, target.places.count - 1)]
    }

    private var pageRows: Int {
        let shelves = Shelves(self)
        return max(1, shelves.bodyRows / shelves.cardRows - 1)
    }

    // MARK: Mouse

    mutating func take(_ mouse: MouseEvent) -> [BrowserEffect] {
        guard question == nil, !isHelping else { return [] }
        switch mouse.action {
        case .wheelUp: move(rows: -1)
        case .wheelDown: move(rows: 1)
        case .press:
            let hit = Shelves(self).cards.first {
                $0.area.contains(column: mouse.column, row: mouse.row)
            }
            guard let hit else { return [] }
            if hit.place == selection, let selected { return [.open(selected.path)] }
            selection = hit.place
        case .drag, .release: break
        }
        return []
    }
}
