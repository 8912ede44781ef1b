// What the original app does with lists. Positions count from 0.
extension TaskList {
    /// Where what is done begins if the list is in order: after the last item that is open.
    public var boundary: Int { (items.lastIndex { !$0.isComplete } ?? -1) + 1 }

    /// How many items are open.
    public var openCount: Int { items.count { !$0.isComplete } }

    /// Puts new items in: open ones before all others, done ones at the end, each in their order.
    public mutating func add(_ new: [TaskItem]) {
        items.insert(contentsOf: new.filter { !$0.isComplete }, at: 0)
        items += new.filter(\.isComplete)
    }

    /// Marks an item as done or open again, moves it to the boundary between the two and returns
    /// where it is then.
    @discardableResult
    public mutating func toggle(at index: Int) throws(DocumentError) -> Int {
        try check(index)
        var item = items.remove(at: index)
        item.isComplete.toggle()
        let target = boundary
        items.insert(item, at: target)
        return target
    }

    /// Moves an item so that it is at `target` afterwards. Open items stay before those that are
    /// done, so an item cannot cross the boundary.
    public mutating func move(from index: Int, to target: Int) throws(DocumentError) {
        try check(index)
        try check(target)
        let isAllowed = items[min(index, target)...max(index, target)].allSatisfy {
            $0.isComplete == items[index].isComplete
        }
        guard isAllowed else {
            throw DocumentError(
                .badValue, at: .path("items[\(target)]"),
                "an item moves only among those that are \(items[index].isComplete ? "done" : "open")"
            )
        }
        items.insert(items.remove(at: index), at: target)
    }

    /// Takes out all that is done and returns it.
    @discardableResult
    public mutating func removeDone() -> [TaskItem] {
        let done = items.filter(\.isComplete)
        items.removeAll(where: \.isComplete)
        return done
    }

    /// The items as the original app copies them: one line each.
    public func copied(_ indices: some Sequence<Int>) throws(DocumentError) -> String {
        var lines: [String] = []
        for index in indices {
            try check(index)
            lines.append(TaskList.oneLine(items[index].text))
        }
        return lines.joined(separator: "\n")
    }

    /// Puts in what the original app pastes: an open item for each line that is not blank, without
    /// the blanks around it. Returns how many.
    @discardableResult
    public mutating func paste(_ text: String) throws(DocumentError) -> Int {
        let lines = try TaskList.lines(of: text)
        for line in lines { try TaskList.check(line) }
        add(lines.map { TaskItem($0) })
        return lines.count
    }

    private func check(_ index: Int) throws(DocumentError) {
        guard items.indices.contains(index) else {
            throw DocumentError(
                .badValue, at: .path("items[\(index)]"),
                items.isEmpty ? "the list is empty" : "the list has items 0 to \(items.count - 1)")
        }
    }

    static func check(_ text: String) throws(DocumentError) {
        guard text.utf8.count <= Limits.itemTextBytes else {
            throw DocumentError(
                .tooLarge, "the text of an item has more than \(Limits.itemTextBytes) bytes")
        }
    }
}
