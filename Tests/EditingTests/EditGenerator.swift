import DocumentFuzzing
import Documents
import Editing

extension DocumentGenerator {
    /// A random document of a type.
    mutating func document(_ type: DocumentType) -> EditableDocument {
        switch type {
        case .shape: .scene(scene())
        case .shapeFile: .shapeFile(shapeFile())
        case .slide: .slide(slide())
        case .list: .list(list())
        }
    }

    /// The words of an edit that may well be possible.
    mutating func edit(of document: EditableDocument) -> [String] {
        let paths = document.paths.map(\.path)
        let verbs = Verb.all.filter { $0.types.contains(document.type) }
        let verb = random.chance(3) ? random.one(of: Verb.all) : random.one(of: verbs)
        var words = [verb.name]
        switch verb.name {
        case "set":
            for _ in 0...random.below(2) { words.append(assignment(paths)) }
        case "unset": words.append(path(paths))
        case "add":
            words.append(kind())
            if random.chance(50) { words.append(name()) }
            if random.chance(30) { words.append(assignment([key()])) }
        case "camera":
            words.append(random.one(of: ["orbit", "pan", "zoom", "reset", "look-at"]))
            if words[1] != "reset" { words.append(value()) }
        case "background", "title": words.append(value())
        case "list": words += listWords()
        case "group": words += [name(), target(), target()]
        default:
            words.append(target())
            if random.chance(30) { words.append(target()) }
            let ends = [
                "left", "middle", "horizontally", "vertically", "join=yes", "front", "back", "90",
                "to=\(value())",
            ]
            if random.chance(80) {
                words.append(random.chance(60) ? value() : random.one(of: ends))
            }
        }
        if random.chance(3) { words.removeLast() }
        return words
    }

    private mutating func listWords() -> [String] {
        let actions = [
            "add", "check", "uncheck", "toggle", "move", "edit", "remove", "color", "clear-done",
            "paste",
        ]
        let action = random.one(of: actions)
        switch action {
        case "add", "paste": return [action, name() + " x"]
        case "color": return [action, random.one(of: ["red", "gray", "pink"])]
        case "clear-done": return [action]
        case "move": return [action, target(), "\(1 + random.below(6))"]
        case "edit": return [action, target(), name()]
        default: return [action, target()]
        }
    }

    private mutating func kind() -> String {
        random.one(of: [
            "sphere", "cube", "torus", "group", "line", "circle", "curve", "chain", "text", "item",
        ])
    }

    private mutating func name() -> String {
        random.one(of: ["Moon", "A b", "x.y", "7", "all", "Ball", "\u{1F4D6}", ""])
    }

    private mutating func target() -> String {
        let number = 1 + random.below(4)
        return random.one(of: [
            "\(number)", "all", "solid.\(number)", "group.\(number)", "element.\(number)", "Moon",
            "Ball", "A b", "type=torus", "type=line", "name=milk", "visible=true", "color=red",
            "done", "item.\(number)", "chain.1", "line.\(number)",
        ])
    }

    private mutating func key() -> String {
        random.one(of: [
            "position", "color", "radius", "opacity", "name", "visible", "size", "end", "text",
            "shape", "canvas", "rotation", "scale", "strokeColor", "completed", "position.x",
        ])
    }

    private mutating func path(_ paths: [String]) -> String {
        if paths.isEmpty || random.chance(20) { return "\(target()).\(key())" }
        return random.one(of: paths)
    }

    private mutating func assignment(_ paths: [String]) -> String { "\(path(paths))=\(value())" }

    private mutating func value() -> String {
        let number = Double(random.below(4_000) - 1_000) / 8
        return random.one(of: [
            "\(number)", "\(random.below(5))", "1,2,3", "\(number),2", "\(number),0,\(number)",
            "0,1,0,\(number)", "red", "#abc", "none", "true", "false", "cone", "Moon", "text",
            "1e41", "1e308,1e308", "-0", "0.5", "", "nan", "a\\nb", "2,2", "left",
        ])
    }
}
