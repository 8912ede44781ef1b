import Documents
import Editing

// The edits that keys and the mouse make.
extension EditorState {
    /// The marked parts, or the selected one.
    var chosen: [PartReference] {
        let places = marks.isEmpty ? [selection] : marks.sorted()
        return places.filter(parts.indices.contains).map { PartReference($0, in: parts) }
    }

    /// The same without what is in a group that is chosen too: it goes where the group goes.
    private var outermost: [PartReference] {
        let places = marks.isEmpty ? [selection] : marks.sorted()
        var kept: [Int] = []
        for place in places where parts.indices.contains(place) {
            // Parts are listed each group before what is in it.
            let isInside = kept.contains { group in
                parts[(group + 1)...place].allSatisfy { $0.depth > parts[group].depth }
            }
            if !isInside { kept.append(place) }
        }
        return kept.map { PartReference($0, in: parts) }
    }

    /// What the chosen parts are called.
    private var chosenName: String {
        if marks.count > 1 { return "\(marks.count) parts" }
        let place = marks.first ?? selection
        return parts.indices.contains(place) ? parts[place].title : ""
    }

    /// Edits each chosen part with the same words.
    ///
    /// - Parameter isGathered: it moves, turns or scales, as groups do with all that is in them.
    @discardableResult
    mutating func edit(
        _ before: [String], key: String = "", _ after: [String] = [], as what: String,
        isGathered: Bool = false, now: Int
    ) -> Bool {
        let chosen = isGathered ? outermost : chosen
        guard !chosen.isEmpty else {
            let none = "There is nothing here; n adds something"
            say(parts.isEmpty ? none : "Nothing is selected; Tab selects", .bad)
            return false
        }
        let description = "\(what) \(chosenName)"
        var made = false
        for part in chosen {
            let step = Step(
                before, [part], key: key, after,
                subject: isGathered || chosen.count > 1 ? description : nil,
                description: description)
            made = make(step, now: now) || made
        }
        return made
    }

    mutating func move(_ x: Double, _ y: Double, _ z: Double, _ now: Int, isFine: Bool = false) {
        if case .slide(let slide) = document {
            let unit = isFine ? 1 : max(1, Double(slide.canvas.width) / 100).rounded()
            edit(
                ["move"], ["by=\(text(x * unit)),\(text(y * unit))"], as: "Move", isGathered: true,
                now: now)
        } else if type == .shape {
            let unit = isFine ? 0.01 : 0.1
            let by = [x, y, z].map { text($0 * unit) }.joined(separator: ",")
            edit(["move"], ["by=\(by)"], as: "Move", isGathered: true, now: now)
        }
    }

    mutating func rotate(_ x: Double, _ y: Double, _ now: Int) {
        var words = [text((x - y) * 5)]
        if type == .shape { words = x != 0 ? ["y", text(x * 10)] : ["x", text(-y * 10)] }
        edit(["rotate"], words, as: "Rotate", isGathered: true, now: now)
    }

    mutating func scale(_ factor: Double, _ now: Int) {
        edit(["scale"], [text(factor)], as: "Scale", isGathered: true, now: now)
    }

    mutating func orbit(_ right: Double, _ up: Double, _ now: Int) {
        camera(["orbit", "\(text(right)),\(text(up))"], "Orbit", "orbit", now)
    }

    mutating func zoom(_ factor: Double, _ now: Int) {
        camera(["zoom", text(factor)], "Zoom", "zoom", now)
    }

    mutating func camera(_ words: [String], _ what: String, _ subject: String?, _ now: Int) {
        _ = make(Step(["camera"] + words, subject: subject, description: what), now: now)
    }

    mutating func change(to kind: SolidKind, _ now: Int) {
        switch type {
        case .shapeFile:
            let words = ["set", "shape=\(kind.name)"]
            _ = make(Step(words, description: "Change to a \(kind.name)"), now: now)
        case .shape:
            edit(["set"], key: ".shape=\(kind.name)", as: "Change to a \(kind.name):", now: now)
        case .slide, .list: say("Only solids have a kind to choose", .bad)
        }
    }

    mutating func remove(_ now: Int) {
        if type == .list {
            edit(["list", "remove"], as: "Remove", now: now)
        } else {
            edit(["remove"], as: "Remove", now: now)
        }
        marks = []
    }

    mutating func duplicate(_ now: Int) {
        guard type != .list else {
            say("Items are not duplicated; a adds one", .bad)
            return
        }
        if edit(["duplicate"], as: "Duplicate", now: now), marks.isEmpty {
            // The copy comes after the part, and after all that is in it.
            let depth = parts[selection].depth
            let next = parts.indices.first { $0 > selection && parts[$0].depth <= depth }
            if let next { selection = next }
        }
    }

    mutating func toggle(_ now: Int) { edit(["list", "toggle"], as: "Toggle", now: now) }

    mutating func toggleMark() {
        guard parts.indices.contains(selection) else { return }
        if marks.remove(selection) == nil { marks.insert(selection) }
        if selection + 1 < parts.count { selection += 1 }
    }

    mutating func toggleVisibility(_ now: Int) {
        guard type == .shape, parts.indices.contains(selection),
            case .node(let node) = parts[selection].identity
        else { return }
        let word = node.isVisible ? "false" : "true"
        edit(["set"], key: ".visible=\(word)", as: node.isVisible ? "Hide" : "Show", now: now)
    }

    mutating func reorder(_ direction: Int, _ now: Int) {
        marks = []
        if type == .list {
            let place = min(max(selection + direction, 0), parts.count - 1) + 1
            edit(["list", "move"], ["\(place)"], as: "Move", isGathered: true, now: now)
        } else {
            edit(["order"], [direction > 0 ? "forward" : "backward"], as: "Reorder", now: now)
        }
    }

    mutating func ungroup(_ now: Int) { edit(["ungroup"], as: "Ungroup", now: now) }

    mutating func paste(_ text: String, _ now: Int) {
        guard type == .list else {
            sayWherePastesGo()
            return
        }
        let step = Step(["list", "paste", escaped(text)], description: "Paste")
        if make(step, now: now) { selection = 0 }
    }

    mutating func sayWherePastesGo() {
        say("Text can be pasted where something is being typed, or into a list", .bad)
        isLoud = true
    }

    /// Says that nothing of a pasted text was taken, and for what length.
    mutating func refusePaste(_ length: String) {
        say("Nothing was pasted: the text has \(length)", .bad)
        isLoud = true
    }

    /// A number as edits take it, without digits that only rounding made.
    func text(_ number: Double) -> String {
        let rounded = (number * 1e6).rounded() / 1e6
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    /// A text as edits take it.
    func escaped(_ text: String) -> String { Edit.word(of: text) }
}
