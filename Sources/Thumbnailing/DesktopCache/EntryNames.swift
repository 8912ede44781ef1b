internal import SystemCalls

/// The names of the entries in a folder of a thumbnail cache, as a listing and what inotify(7) tells tell them.
struct EntryNames {
    /// More are not kept: then there may be any.
    private static let limit = 100_000

    private var names: Set<UInt128> = []
    /// Before the folder was listed, what has happened since it is watched.
    private var changes: [UInt128: Bool]? = [:]
    private var areMany = false

    /// Whether there may be an entry of that name.
    func mayHave(_ name: String) -> Bool {
        if areMany || changes != nil { return true }
        return Self.number(name).map { names.contains($0) } ?? true
    }

    /// A file has come or gone; any file.
    mutating func note(_ name: String, isThere: Bool) {
        guard !areMany, let number = Self.number(name) else { return }
        if changes != nil {
            changes?[number] = isThere
        } else if isThere {
            names.insert(number)
        } else {
            names.remove(number)
        }
        limit()
    }

    /// Lists the folder, which is watched.
    static func listing(_ folder: String) throws(Errno) -> Set<UInt128> {
        var found: Set<UInt128> = []
        try Directories.forEachName(in: folder) { name in
            if let number = number(name) { found.insert(number) }
            return found.count <= limit
        }
        return found
    }

    /// What ``listing(_:)`` found; what has happened meanwhile it may have seen or not.
    mutating func list(_ found: Set<UInt128>) {
        names = found
        for (name, isThere) in changes ?? [:] {
            if isThere { names.insert(name) } else { names.remove(name) }
        }
        changes = nil
        limit()
    }

    private mutating func limit() {
        guard names.count > Self.limit || (changes?.count ?? 0) > Self.limit else { return }
        self = EntryNames()
        areMany = true
    }

    /// Whether a file of that name is an entry.
    static func isEntry(_ name: String) -> Bool { number(name) != nil }

    /// The hash in an entry's name; nil for the names of other files.
    private static func number(_ name: String) -> UInt128? {
        guard name.utf8.count == 36, name.hasSuffix(".png") else { return nil }
        return UInt128(name.dropLast(4), radix: 16)
    }
}
