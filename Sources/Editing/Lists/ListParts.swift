import Documents

/// The items of a list, and how they are found: by number, text, `done`, `open` or a selector.
struct ListParts: Selectable {
    private let items: [TaskItem]
    let index: PartIndex

    init(_ items: [TaskItem]) {
        self.items = items
        let parts = items.map { PartIndex.Outline(name: $0.text) }
        index = PartIndex(parts, noun: "item", kinds: ["item"], reserved: [])
    }

    func collection(_ word: String) -> [Int]? {
        switch word {
        case "all": Array(items.indices)
        case "done": items.indices.filter { items[$0].isComplete }
        case "open": items.indices.filter { !items[$0].isComplete }
        default: nil
        }
    }

    var count: Int { items.count }

    func matches(_ pair: KeyValue) -> [Bool?] {
        var matchers = FieldMatchers<TaskItem, Bool>(pair)
        return items.map { matchers.matches($0, of: true) }
    }

    var selectorKeys: [String] { ["text", "completed", "done", "uuid"] }

    func refusals(of pair: KeyValue) -> [String?] { [TaskItem("-")].refusals(of: pair) }
}
