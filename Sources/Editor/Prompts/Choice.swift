import Documents

/// A small list to choose from.
package struct Choice: Hashable, Sendable {
    /// What is done with what was chosen.
    package enum Purpose: Hashable, Sendable {
        /// A part of this kind is put in.
        case add
        /// The selected parts get this colour.
        case color
    }

    package let purpose: Purpose
    package let title: String
    package let options: [String]
    package var selected = 0

    package init(_ purpose: Purpose, title: String, options: [String]) {
        self.purpose = purpose
        self.title = title
        self.options = options
    }

    /// The key that chooses an option: 1 to 9, then letters.
    package static func key(of index: Int) -> Character {
        let keys = Array("123456789abcdefghi")
        return index < keys.count ? keys[index] : " "
    }

    static let palette = [
        "red", "orange", "gold", "green", "teal", "dodgerblue", "navy", "purple", "hotpink",
        "brown", "black", "gray", "white",
    ]
    static let slideKinds = [
        "line", "rectangle", "circle", "ellipse", "arc", "curve", "text",
    ]
}
