import Documents
import PathText

extension Scene {
    /// What it holds, one fact a line.
    var facts: [String] {
        let parts = SceneParts(self)
        let groups = parts.entries.count { $0.node.kindName == "group" }
        var facts = ["scene of \(Count.words(parts.count - groups, "solid"))"]
        if groups > 0 { facts[0] += " in \(Count.words(groups, "group"))" }
        facts += listing.filter { $0.key != "version" }.map { "\($0.key): \($0.value)" }
        facts += camera.listing.map { "camera.\($0.key): \($0.value)" }
        facts += parts.entries.indices.map { index in
            let entry = parts.entries[index]
            let indent = String(repeating: "  ", count: entry.depth)
            let path = parts.index.path(of: index)
            return indent + "\(path): " + entry.node.longWords
        }
        return facts
    }

    /// What is wrong with it.
    var complaints: [String] {
        var complaints: [String] = []
        let parts = SceneParts(self)
        var counts: [String: Int] = [:]
        for entry in parts.entries { counts[entry.node.name, default: 0] += 1 }
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) where count > 1 && !name.isEmpty
        {
            complaints.append("nodes: \(count) parts are called '\(EscapedText.escaped(name))'")
        }
        if case .target(let target) = camera.orientation, target == camera.position {
            complaints.append("camera.target: where the camera is, so it looks nowhere")
        }
        return complaints
    }
}

extension SceneNode {
    /// It in words: what it is, where, and what is unusual about it.
    var longWords: String {
        var words = [self.words]
        if case .solid(let solid) = self {
            let usual = SolidShape(solid.shape.kind)
            for (length, standard) in zip(solid.shape.dimensions, usual.dimensions)
            where length != standard {
                words.append("\(length.name) \(ValueText.text(length.value))")
            }
            words.append(solid.effectiveColor.description)
            if solid.opacity != 1 { words.append("opacity \(ValueText.text(solid.opacity))") }
        }
        if !transform.rotation.isNone {
            words.append("rotation \(RotationText.text(transform.rotation))")
        }
        if transform.scale != .one { words.append("scale \(ValueText.text(transform.scale))") }
        if !isVisible { words.append("not visible") }
        return words.joined(separator: ", ")
    }
}
