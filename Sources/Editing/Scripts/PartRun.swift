import Documents

/// Makes the edits of a script one after the other on a document of many parts.
///
/// Most lines of long scripts mean one part by what it is called, put one in, or mean none. Such an
/// edit is made on a document of that part alone, or of no part, and what became of it is put in
/// place: so a line takes no longer the more parts there are. (After one is taken out the others are
/// numbered anew.) Wherever that could say something else, errors included, the edit is made on the
/// whole document.
struct PartRun<Document: PartedDocument> {
    private(set) var document: Document
    /// How the parts are found, as long as none was moved or removed.
    private var found: Found?

    private struct Found {
        var index: PartIndex
        var places: [Int?]
        var freeNames: FreeNames?

        init(_ document: Document) {
            (index, places) = document.found
        }
    }

    init(_ document: Document) { self.document = document }

    /// Makes an edit and tells what changed by it. After an error it may be half made.
    mutating func make(_ edit: Edit) throws(EditError) -> [Change] {
        if let changes = makeAlone(edit) { return changes }
        found = nil
        return try document.make(edit)
    }

    private mutating func makeAlone(_ edit: Edit) -> [Change]? {
        guard edit.verb.types.contains(Document.type), edit.words.count > 1 else { return nil }
        switch edit.verb.name {
        case "camera", "background", "title": return changeBare(edit)
        case "set", "unset":
            return isAboutParts(edit.words[1])
                ? withFound { $0.change(edit, &$1) } : changeBare(edit)
        case "move", "rotate", "scale", "color", "text", "rename":
            return withFound { $0.change(edit, &$1) }
        case "add": return withFound { $0.add(edit, &$1) }
        case "remove": return remove(edit)
        default: return nil
        }
    }

    /// Does something with what is known of the parts; held by one only, that is changed in place.
    private mutating func withFound(_ body: (inout PartRun, inout Found) -> [Change]?) -> [Change]?
    {
        var parts = found ?? Found(document)
        found = nil
        defer { found = parts }
        return body(&self, &parts)
    }

    /// Whether a path leads to no key of the document itself.
    private func isAboutParts(_ path: String) -> Bool {
        !Document.reserved.contains(path.prefix { $0 != "." && $0 != "=" }.lowercased())
    }

    /// Makes an edit on the document without its parts.
    private mutating func changeBare(_ edit: Edit) -> [Change]? {
        var bare = document.holding([])
        guard let changes = try? bare.make(edit), bare.parts.isEmpty else { return nil }
        document = bare.holding(document.parts)
        return changes
    }

    /// Makes an edit on the one part it means.
    private mutating func change(_ edit: Edit, _ parts: inout Found) -> [Change]? {
        guard let (number, words) = meant(by: edit, parts.index),
            let place = parts.places[number]
        else { return nil }
        let old = document.parts[place]
        let outline = Document.outline(of: old)
        var alone = document.holding([old])
        // A name with a dot could be taken for a path.
        guard !outline.name.contains("."), (try? alone.make(edit.with(words))) != nil,
            alone.parts.count == 1
        else { return nil }
        let new = alone.parts[0]
        if new == old { return [] }
        let former = parts.index.path(of: number)
        let newOutline = Document.outline(of: new)
        if !outline.isExactly(newOutline) {
            // Numbers stay where kinds do. What is called as the part is for a moment in the same
            // edit, or afterwards, may be an error.
            guard outline.kind == newOutline.kind, edit.verb.name == "rename" || words.count == 2,
                newOutline.name == outline.name
                    || !parts.index.hasPart(named: newOutline.name)
            else { return nil }
            parts.index.rename(number, newOutline.name)
            parts.freeNames = nil
        }
        document.put(new, at: place)
        let path = parts.index.path(of: number)
        return Document.changes(from: old, to: new) {
            "\($0 == Document.nameKey ? former : path).\($0)"
        }
    }

    /// Takes out the one part an edit means, if its name says which of all it is.
    private mutating func remove(_ edit: Edit) -> [Change]? {
        guard edit.words.count == 2 else { return nil }
        let parts = found ?? Found(document)
        guard let (number, _) = meant(by: edit, parts.index), let place = parts.places[number],
            parts.index.isNamed(number)
        else {
            found = parts
            return nil
        }
        found = nil
        let path = parts.index.path(of: number)
        let old = document.remove(at: place)
        return [Change(.part, path, before: Document.words(of: old), after: nil)]
    }

    /// The part an edit means, and its words for a document that holds no other; nil if it means
    /// none or more.
    private func meant(by edit: Edit, _ index: PartIndex) -> (part: Int, words: [String])? {
        var arguments = Arguments(edit)
        var parts: Set<Int> = []
        var words = [edit.verb.name]
        switch edit.verb.name {
        case "set":
            guard let pairs = try? arguments.assignments() else { return nil }
            for (path, value) in pairs {
                guard isAboutParts(path), let (part, key) = try? index.split(path) else {
                    return nil
                }
                parts.insert(part)
                words.append("1.\(key)=\(value)")
            }
        case "unset":
            for path in edit.words.dropFirst() {
                guard isAboutParts(path), let (part, key) = try? index.split(path) else {
                    return nil
                }
                parts.insert(part)
                words.append("1.\(key)")
            }
        default:
            let word = edit.words[1]
            guard KeyValue(word) == nil, isAboutParts(word), let part = try? index.find(word) else {
                return nil
            }
            parts = [part]
            words += ["1"] + edit.words.dropFirst(2)
        }
        guard parts.count == 1, let part = parts.first else { return nil }
        return (part, words)
    }

    /// Makes a part and puts it after all others.
    private mutating func add(_ edit: Edit, _ parts: inout Found) -> [Change]? {
        var alone = document.holding([])
        guard parts.index.count < Document.mostParts, (try? alone.make(edit)) != nil,
            alone.parts.count == 1
        else { return nil }
        var new = alone.parts[0]
        let name = Document.outline(of: new).name
        if parts.index.hasPart(named: name) {
            let pairs = edit.words.dropFirst(2).map { KeyValue($0)?.key.lowercased() }
            guard !pairs.contains(nil), !pairs.contains("name") else { return nil }
            var names = parts.freeNames ?? FreeNames(taken: parts.index.names)
            guard let renamed = Document.renamed(new, names.take(name)) else { return nil }
            new = renamed
            parts.freeNames = names
        } else {
            parts.freeNames?.use(name)
        }
        let place = document.parts.count
        document.put(new, at: place)
        let outline = Document.outline(of: new)
        parts.index.append(outline)
        parts.places.append(outline.isCounted ? place : nil)
        let path = parts.index.path(of: parts.index.count - 1)
        return [Change(.part, path, before: nil, after: Document.longWords(of: new))]
    }
}

extension Edit {
    /// The same verb with other words after it.
    fileprivate func with(_ words: [String]) -> Edit {
        Edit(verb: verb, words: words, line: line)
    }
}
