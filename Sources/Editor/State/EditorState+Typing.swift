import Documents
import Editing
import Terminal

// What happens while something is typed or chosen.
extension EditorState {
    mutating func startTyping() {
        guard !parts.isEmpty else {
            startAdding()
            return
        }
        guard parts.indices.contains(selection) else { return }
        let part = parts[selection]
        switch part.identity {
        case .item:
            let reference = PartReference(selection, in: parts)
            prompt = LinePrompt(.text(reference), label: "Text: ", text: itemText(selection))
        case .element(let element) where element.shapeType == "text":
            let reference = PartReference(selection, in: parts)
            let text = escaped(element.json["text"]?.string ?? "")
            prompt = LinePrompt(.text(reference), label: "Text (\\n: line): ", text: text)
        case .onlySolid: prompt = LinePrompt(.command, label: ":", text: "shape=")
        case .element: prompt = LinePrompt(.command, label: ":", text: "element.\(part.label).")
        case .node: prompt = LinePrompt(.command, label: ":", text: "\(part.label).")
        }
    }

    private func itemText(_ index: Int) -> String {
        guard case .list(let list) = document else { return "" }
        return list.items[index].text
    }

    mutating func startAdding() {
        switch type {
        case .list: prompt = LinePrompt(.newItem, label: "New: ")
        case .shape:
            choice = Choice(.add, title: "Add", options: SolidKind.allCases.map(\.name))
        case .slide: choice = Choice(.add, title: "Add", options: Choice.slideKinds)
        case .shapeFile:
            say("A .shapeFile has one solid; 1 to 6 choose which", .bad)
        }
    }

    mutating func startColoring() {
        let options: [String]
        switch type {
        case .list: options = ListColor.allCases.map(\.name)
        case .shapeFile:
            say("The colour of a .shapeFile is that of its solid; convert it to a .shape", .bad)
            return
        case .shape, .slide:
            guard !parts.isEmpty else { return }
            options = Choice.palette
        }
        let title = type == .list ? "Colour" : "Colour (: types one)"
        choice = Choice(.color, title: title, options: options)
    }

    mutating func startGrouping() {
        guard type == .shape else {
            say("Only scenes have groups", .bad)
            return
        }
        prompt = LinePrompt(.group, label: "Name of the group: ")
    }

    mutating func takeChoice(_ input: InputEvent, _ now: Int) {
        guard var choice, case .key(let key, _) = input else { return }
        let count = choice.options.count
        switch key {
        case .escape:
            self.choice = nil
            return
        case .up, .left: choice.selected = (choice.selected + count - 1) % count
        case .down, .right, .tab: choice.selected = (choice.selected + 1) % count
        case .enter:
            choose(choice.options[choice.selected], choice.purpose, now)
            return
        case .character(":"), .character("#"):
            guard choice.purpose == .color, type != .list else { break }
            self.choice = nil
            prompt = LinePrompt(
                .color, label: "Colour: ", text: key == .character("#") ? "#" : "")
            return
        case .character(let character):
            guard let index = (0..<count).first(where: { Choice.key(of: $0) == character }) else {
                break
            }
            choose(choice.options[index], choice.purpose, now)
            return
        default: break
        }
        self.choice = choice
    }

    private mutating func choose(_ option: String, _ purpose: Choice.Purpose, _ now: Int) {
        choice = nil
        switch purpose {
        case .color where type == .list:
            let words = ["list", "color", option]
            _ = make(Step(words, description: "Make the list \(option)"), now: now)
        case .color: edit(["color"], [option], as: "Color", now: now)
        case .add:
            let article = ["arc", "ellipse"].contains(option) ? "an" : "a"
            if make(Step(["add", option], description: "Add \(article) \(option)"), now: now) {
                selection = parts.count - 1
                marks = []
            }
        }
    }

    mutating func takeTyped(
        _ input: InputEvent, _ now: Int, _ effects: inout [EditorEffect]
    ) {
        if case .paste(let text) = input { pasteIntoPrompt(text) }
        guard case .key(let key, let modifiers) = input else { return }
        let isControl = modifiers.contains(.control)
        switch key {
        case .escape,
            .character("c") where isControl,
            .character("g") where isControl:
            prompt = nil
        case .enter:
            guard let done = prompt else { return }
            prompt = nil
            finish(done, now, &effects)
        case .backspace:
            if prompt?.characters.isEmpty == true { prompt = nil } else { prompt?.deleteBackward() }
        case .delete: prompt?.deleteForward()
        case .left: prompt?.move(by: -1)
        case .right: prompt?.move(by: 1)
        case .home,
            .character("a") where isControl:
            prompt?.moveToStart()
        case .end,
            .character("e") where isControl:
            prompt?.moveToEnd()
        case .up: prompt?.recall(-1, from: lines)
        case .down: prompt?.recall(1, from: lines)
        case .tab: complete()
        case .character("u") where isControl: prompt?.deleteToStart()
        case .character("k") where isControl: prompt?.deleteToEnd()
        case .character("w") where isControl: prompt?.deleteWord()
        case .character(let character) where modifiers.isDisjoint(with: [.control, .alt]):
            if prompt?.insert([character]) == false {
                say("A line has no more than \(LinePrompt.limit) characters", .bad)
            }
        default: break
        }
    }

    /// Puts a pasted text where the cursor is, all of it or nothing. Where line ends can be part of
    /// what is typed they are written out, and so are tabs and backslashes; elsewhere a line end is a
    /// blank.
    private mutating func pasteIntoPrompt(_ text: String) {
        guard let purpose = prompt?.purpose else { return }
        var text = text
        if case .text = purpose, type == .slide { text = escaped(text) }
        if prompt?.insert(text) == false {
            refusePaste(
                "\(text.count) characters, and the line \(LinePrompt.limit) at most, with what is there"
            )
        }
    }

    /// Completes a path of the document with its value, or a verb.
    private mutating func complete() {
        guard prompt?.purpose == .command, let word = prompt?.word else { return }
        var candidates = word.start == 0 ? Verb.all.map { $0.name + " " } : []
        if !word.text.contains("=") {
            candidates += document.paths.map { "\($0.path)=\($0.value)" }
            if let label = parts.first(where: { word.text.hasPrefix($0.label + ".") })?.label,
                !label.isEmpty
            {
                candidates += keys(of: label)
            }
        }
        let found = candidates.filter { $0.hasPrefix(word.text) }
        if prompt?.complete(candidates) == false {
            let names = found.prefix(12).map {
                $0.prefix { $0 != "=" }.split(separator: ".").last ?? ""
            }
            say(found.isEmpty ? "Nothing begins so" : names.joined(separator: " "))
        }
    }

    /// The paths that begin with a label: documents list them by the name of the part.
    private func keys(of label: String) -> [String] {
        let keys = Set(
            document.paths.compactMap { $0.path.split(separator: ".").last.map(String.init) })
        return keys.sorted().compactMap { key in
            let path = "\(label).\(key)"
            do throws(EditError) { return "\(path)=\(try document.value(at: path))" } catch {
                return nil
            }
        }
    }

    private mutating func finish(
        _ prompt: LinePrompt, _ now: Int, _ effects: inout [EditorEffect]
    ) {
        let text = prompt.text
        guard !text.isEmpty else { return }
        switch prompt.purpose {
        case .command:
            lines = lines.suffix(99).filter { $0 != text } + [text]
            obey(text, now, &effects)
        case .color: edit(["color"], [text], as: "Color", now: now)
        case .newItem:
            let step = Step(
                ["list", "add", escaped(text)], description: "Add \"\(text.prefix(40))\"")
            if make(step, now: now) { selection = 0 }
        case .text(let part):
            let verb = type == .list ? ["list", "edit"] : ["text"]
            let words = type == .list ? escaped(text) : text
            _ = make(Step(verb, [part], [words], description: "Change a text"), now: now)
        case .group:
            let name = escaped(text)
            let chosen = chosen
            guard !chosen.isEmpty else { return }
            if make(Step(["group", name], chosen, description: "Group as \(text)"), now: now) {
                marks = []
                selection = parts.firstIndex { $0.title == text } ?? selection
            }
        }
    }

    /// Does what a line says: an order to the editor, verbs of edits, or `PATH=VALUE...`.
    private mutating func obey(_ line: String, _ now: Int, _ effects: inout [EditorEffect]) {
        switch line.trimmingBlanks {
        case "q", "quit", "wq", "x": quit(&effects)
        case "q!": effects.append(.quit)
        case "w", "write", "save": save(&effects)
        case "undo": step(isUndo: true, &effects)
        case "redo": step(isUndo: false, &effects)
        case "help", "?": isHelping = true
        case let line:
            let first = line.prefix { $0 != " " }
            let isPath = first.contains("=") && !Verb.all.contains { $0.name == first }
            do throws(EditError) {
                let edits = try Edit.script(isPath ? "set \(line)" : line)
                guard !edits.isEmpty else { return }
                _ = make(Step(edits, description: String(line.prefix(80))), now: now)
            } catch {
                var shown = error
                shown.line = nil
                say(shown.description, .bad)
            }
        }
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
