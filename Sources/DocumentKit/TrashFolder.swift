internal import PathText

/// The folders for deleted files, as the freedesktop specification has them.
package enum TrashFolder {
    /// Whether a path leads into one.
    package static func contains(_ path: String) -> Bool {
        let names = path.pathNames
        return names.indices.contains { place in
            let name = names[place]
            let isOwn = name == "Trash" || name.hasPrefix(".Trash-")
            let files = isOwn ? place + 1 : name == ".Trash" ? place + 2 : nil
            return files.map { $0 < names.count && names[$0] == "files" } ?? false
        }
    }

    /// Whether moving a file from one path to the other puts it into one: what is in it already is only moved.
    static func isEntered(from former: String, to path: String) -> Bool {
        contains(path) && !contains(former)
    }
}
