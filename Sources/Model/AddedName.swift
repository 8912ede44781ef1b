internal import PathText

/// Names made of another name and a word that tells it apart. Names are texts as `PathText` makes them.
package enum AddedName {
    /// The most bytes a name has on Linux.
    private static let most = 255

    /// `a.txt` and ` (2)` make `a (2).txt`. What would be too long loses the end of its stem, in whole
    /// characters; an ending that leaves no room for a stem counts as part of it.
    package static func adding(_ word: String, to name: String) -> String {
        var stem = name[...]
        var ending = name[name.endIndex...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex,
            bytes(name[dot...]) + word.utf8.count < most
        {
            stem = name[..<dot]
            ending = name[dot...]
        }
        let room = most - word.utf8.count - bytes(ending)
        while bytes(stem) > room, !stem.isEmpty { stem.removeLast() }
        return "\(stem)\(word)\(ending)"
    }

    private static func bytes(_ part: Substring) -> Int { String(part).pathBytes.count }

    /// `a.txt` and 2 make `a (2).txt`.
    package static func numbered(_ name: String, _ number: Int) -> String {
        adding(" (\(number))", to: name)
    }
}
