/// Names made of another name and a word that tells it apart.
package enum AddedName {
    /// The most bytes a name has on Linux.
    private static let most = 255

    /// `a.txt` and ` (2)` make `a (2).txt`. What would be too long loses the end of its stem, in whole
    /// characters; an ending that leaves no room for a stem counts as part of it.
    package static func adding(_ word: String, to name: String) -> String {
        var stem = name[...]
        var ending = name[name.endIndex...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex,
            name[dot...].utf8.count + word.utf8.count < most
        {
            stem = name[..<dot]
            ending = name[dot...]
        }
        let room = most - word.utf8.count - ending.utf8.count
        while stem.utf8.count > room, !stem.isEmpty { stem.removeLast() }
        return "\(stem)\(word)\(ending)"
    }

    /// `a.txt` and 2 make `a (2).txt`.
    package static func numbered(_ name: String, _ number: Int) -> String {
        adding(" (\(number))", to: name)
    }
}
