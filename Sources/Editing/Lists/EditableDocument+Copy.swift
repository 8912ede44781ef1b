import Documents

extension EditableDocument {
    /// The items of a list as the original app copies them, one line each: what `list copy` gives.
    /// The words are targets; without any all items are meant.
    public func copiedItems(_ words: [String]) throws(EditError) -> String {
        guard case .list(let list) = self else {
            throw EditError(.usage, at: "list copy", "only for .list")
        }
        var arguments = Arguments(try Edit(words: ["list"] + words))
        let found =
            words.isEmpty
            ? Array(list.items.indices) : try ListParts(list.items).find(try arguments.targets())
        return try TaskList.translated("list copy") { () throws(DocumentError) in
            try list.copied(found)
        }
    }
}
