import Documents
import Terminal

extension EditorState {
    /// The mode and its most important keys, for the last line when there is nothing else to say.
    var footer: String {
        let leaving = "Esc: back to \(Self.usualTool(type).rawValue)"
        let keys: [String]
        switch tool {
        case .select where type == .list: keys = ["up, down select", "Space: done", "a adds"]
        case .select: keys = ["up, down select", "m: arrows move", "n adds"]
        case .move where type == .slide: keys = ["arrows move the element", leaving]
        case .move: keys = ["arrows, PgUp, PgDn move the solid", leaving]
        case .rotate: keys = ["arrows turn it", leaving]
        case .scale: keys = ["arrows make it larger, smaller", leaving]
        case .orbit where type == .shapeFile: keys = ["arrows go round it", "1 to 6: which solid"]
        case .orbit: keys = ["arrows go round the scene", leaving]
        case .zoom: keys = ["arrows come nearer, go back", leaving]
        }
        return "\(tool.rawValue): " + (keys + ["? all keys"]).joined(separator: " · ")
    }
}
