package import Documents
package import Editing

/// A part of a document as the editor lists it: a solid or group, an element, an item.
package struct Part: Hashable, Sendable {
    /// What makes it the same part in another state of the document.
    package enum Identity: Hashable, Sendable {
        /// A solid or group: by its name, without one by all of it, and by all else in its place where
        /// others gave it another name.
        case node(SceneNode)
        /// The only solid of a shape file.
        case onlySolid
        /// An element of a slide.
        case element(SlideElement)
        /// An item of a list. Making an edit that adds one again gives it another identity, so its
        /// text counts where the identity is not found.
        case item(ItemID, text: String)
    }

    /// What it is called; never empty.
    package var title: String
    /// What else is worth knowing, in a word or two.
    package var detail: String
    /// How many groups it is in.
    package var depth: Int
    /// The colour it is drawn in.
    package var color: Color?
    /// Whether it is done, of an item.
    package var isDone: Bool?
    /// The word that means it in an edit.
    package var label: String
    package var identity: Identity
}

/// The parts of a document in the order they are listed.
package func parts(of document: EditableDocument) -> [Part] {
    switch document {
    case .scene(let scene):
        var parts: [Part] = []
        var (solids, groups) = (0, 0)
        list(scene.nodes, depth: 0, &parts, &solids, &groups)
        return parts
    case .shapeFile(let file):
        return [
            Part(
                title: file.kind.name, detail: "", depth: 0, color: file.kind.standardColor,
                isDone: nil, label: "", identity: .onlySolid)
        ]
    case .slide(let slide):
        return slide.elements.enumerated().map { index, element in
            let kind = element.shapeType ?? "?"
            let words = element.json["text"]?.string ?? element.comment ?? ""
            return Part(
                title: "\(index + 1) \(kind)", detail: String(words.prefix(100)).onOneLine,
                depth: 0, color: color(of: element), isDone: nil, label: "\(index + 1)",
                identity: .element(element))
        }
    case .list(let list):
        return list.items.enumerated().map { index, item in
            Part(
                title: item.text.isEmpty ? "(empty)" : item.text, detail: "", depth: 0, color: nil,
                isDone: item.isComplete, label: "\(index + 1)",
                identity: .item(item.id, text: item.text))
        }
    }
}

private func list(
    _ nodes: [SceneNode], depth: Int, _ parts: inout [Part], _ solids: inout Int,
    _ groups: inout Int
) {
    for node in nodes {
        let hidden = node.isVisible ? "" : "hidden"
        switch node {
        case .solid(let solid):
            solids += 1
            let kind = solid.shape.kind.name
            parts.append(
                Part(
                    title: solid.name.isEmpty ? "\(kind) \(solids)" : solid.name,
                    detail: hidden.isEmpty ? kind : hidden, depth: depth,
                    color: solid.effectiveColor, isDone: nil, label: "solid.\(solids)",
                    identity: .node(node)))
        case .group(let group):
            groups += 1
            parts.append(
                Part(
                    title: group.name.isEmpty ? "group \(groups)" : group.name,
                    detail: hidden.isEmpty ? "group" : hidden, depth: depth, color: nil,
                    isDone: nil, label: "group.\(groups)", identity: .node(node)))
            list(group.children, depth: depth + 1, &parts, &solids, &groups)
        }
    }
}

private func color(of element: SlideElement) -> Color? {
    for key in ["fillColor", "strokeColor", "textColor", "color"] {
        if let color = element.json[key]?.string.flatMap({ Color($0) }) { return color }
    }
    return nil
}
