internal import Coordination
internal import Model

/// What a version can be marked with, each by an attribute of its document:
/// `user.shapeedit.<key>.<version's name>`. A marked version stays whatever its age.
enum VersionMark: String, CaseIterable {
    /// Somebody wants it to stay.
    case pin
    /// It was replaced by somebody who had not seen it.
    case conflict

    /// The mark and the version's name in the key of an attribute; `nil` for another key.
    static func parse(_ key: String) -> (mark: VersionMark, name: Substring)? {
        guard let dot = key.firstIndex(of: "."),
            let mark = VersionMark(rawValue: String(key[..<dot]))
        else { return nil }
        return (mark, key[key.index(after: dot)...])
    }

    /// How the attribute says that a version has the mark, or has not.
    func word(_ isMarked: Bool) -> String {
        switch self {
        case .pin: isMarked ? "keep" : "default"
        case .conflict: isMarked ? "unresolved" : "none"
        }
    }

    /// What a word says; `nil` if nothing.
    func isMarked(_ word: String) -> Bool? {
        [true, false].first { self.word($0) == word }
    }

    var changeKind: ChangeKind { self == .pin ? .versionPinned : .conflicted }

    func effects(_ version: NodeNumber, _ isMarked: Bool) -> [Effect] {
        switch self {
        case .pin: return [.pinVersion(version.item, version.ordinal, isMarked)]
        case .conflict:
            let mark = Effect.markConflict(version.item, version.ordinal, isMarked)
            // What somebody had not seen was no step of the save that replaced it.
            return isMarked ? [mark] : [mark, .keepApart(version.item, version.ordinal)]
        }
    }
}

/// The marked versions of a container. Guarded by the volume's lock.
struct VersionMarks {
    private(set) var pinned: Set<NodeNumber>
    /// With their documents.
    private(set) var conflicts: [NodeNumber: DocumentID]

    init(_ container: Container) {
        pinned = Set(container.pinnedVersions)
        conflicts = container.conflictVersions
    }

    /// Those that stay whatever their age.
    var staying: Set<NodeNumber> { conflicts.isEmpty ? pinned : pinned.union(conflicts.keys) }

    func stays(_ version: NodeNumber) -> Bool {
        pinned.contains(version) || conflicts[version] != nil
    }

    func has(_ mark: VersionMark, _ version: NodeNumber) -> Bool {
        mark == .pin ? pinned.contains(version) : conflicts[version] != nil
    }

    mutating func set(
        _ mark: VersionMark, _ version: NodeNumber, of document: DocumentID, _ isMarked: Bool
    ) {
        switch (mark, isMarked) {
        case (.pin, true): pinned.insert(version)
        case (.pin, false): pinned.remove(version)
        case (.conflict, _): conflicts[version] = isMarked ? document : nil
        }
    }

    /// The versions are gone.
    mutating func remove(_ versions: [NodeNumber]) {
        pinned.subtract(versions)
        if conflicts.isEmpty { return }
        for version in versions { conflicts[version] = nil }
    }

    /// The versions that an item wrote are those of another document now.
    mutating func adopt(_ item: ItemNumber, _ document: DocumentID) {
        if conflicts.isEmpty { return }
        for version in conflicts.keys where version.item == item { conflicts[version] = document }
    }

    /// The conflict versions of a document, by item and ordinal.
    func conflicts(of document: DocumentID) -> [NodeNumber] {
        conflicts.filter { $0.value == document }.keys.sorted {
            ($0.item.rawValue, $0.ordinal) < ($1.item.rawValue, $1.ordinal)
        }
    }
}
