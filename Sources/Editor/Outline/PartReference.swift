import Documents
import Editing

/// A part that an edit is about, found again after others changed the document.
package struct PartReference: Hashable, Sendable {
    private let index: Int
    /// All parts as they were.
    private let former: [Part]

    /// A reference to the part at a place among parts.
    package init(_ index: Int, in parts: [Part]) {
        self.index = index
        former = parts
    }

    /// Whether both are about one part among as many.
    package static func == (one: PartReference, other: PartReference) -> Bool {
        one.index == other.index && one.identity == other.identity
            && one.former.count == other.former.count
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        hasher.combine(identity)
    }

    private var identity: Part.Identity { former[index].identity }

    /// Where the part is among others; nil if it cannot be told, so that no edit hits a part that
    /// was not meant.
    package func find(in parts: [Part]) -> Int? {
        var same = parts.indices.filter { isSame(parts[$0].identity) }
        if same.isEmpty, case .item(_, let text) = identity {
            same = parts.indices.filter {
                if case .item(_, text) = parts[$0].identity { true } else { false }
            }
        }
        if same.count == 1 { return same[0] }
        if same.contains(index) { return index }
        guard same.isEmpty, parts.count == former.count, parts.indices.contains(index) else {
            return nil
        }
        return isNumbered || isRenamed(parts[index].identity) ? index : nil
    }

    /// Whether a part in the same place is this one in all but its name, which none had before.
    private func isRenamed(_ other: Part.Identity) -> Bool {
        guard case .node(var old) = identity, case .node(let new) = other,
            !former.contains(where: { $0.identity.isNode(named: new.name) })
        else { return false }
        old.name = new.name
        // By what they say: what they were read from differs.
        return EditableDocument.scene(Scene(nodes: [old]))
            .differences(to: .scene(Scene(nodes: [new]))).isEmpty
    }

    /// Whether the place says which part it is as long as none came or went.
    private var isNumbered: Bool {
        switch identity {
        case .node(let node): node.name.isEmpty
        case .element: true
        case .onlySolid, .item: false
        }
    }

    private func isSame(_ other: Part.Identity) -> Bool {
        if case .node(let old) = identity, case .node(let new) = other, !old.name.isEmpty {
            return old.name == new.name
        }
        if case .item(let old, _) = identity, case .item(let new, _) = other { return old == new }
        return identity == other
    }
}

extension Part.Identity {
    fileprivate func isNode(named name: String) -> Bool {
        if case .node(let node) = self { node.name == name } else { false }
    }
}
