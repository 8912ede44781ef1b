internal import Catalog
internal import Model
internal import PathText

/// Finds the paths of changes that have been recorded already, and maybe overtaken by later ones.
struct EventPlaces {
    /// Where items were that later changes removed: the nearest later one counts.
    private var gone: [ItemNumber: NamePlace] = [:]
    private let state: VolumeState

    /// - Parameters:
    ///   - state: with its lock held.
    ///   - rows: the changes, and those known to follow them.
    init(_ state: VolumeState, _ rows: [ChangeRow]) {
        self.state = state
        for row in rows.reversed() where row.kind == .removed {
            guard let parent = row.parent, let name = row.name else { continue }
            gone[row.item] = NamePlace(parent: parent, name: name)
        }
    }

    /// `path` is `nil` if a directory above is gone and nothing tells where it was.
    func place(of row: ChangeRow) -> EventPlace {
        var place = EventPlace()
        let position = state.index.find(row.item)
        if position != 0, state.index[item: position].pointee.isRegular {
            place.document = DocumentID(rawValue: state.index[item: position].pointee.document)
        }
        if let parent = row.parent, let name = row.name {
            place.path = path(NamePlace(parent: parent, name: name))
        } else {
            place.path = path(of: row.item, 0)
        }
        if let former = row.former { place.former = path(former) }
        return place
    }

    private func path(_ place: NamePlace) -> String? { path(place, 0) }

    private func path(_ place: NamePlace, _ depth: Int) -> String? {
        guard let above = path(of: place.parent, depth) else { return nil }
        let name = String(path: place.name)
        return above.isEmpty ? name : above + "/" + name
    }

    private func path(of item: ItemNumber, _ depth: Int) -> String? {
        if item == .root { return "" }
        let position = state.index.find(item)
        if position != 0, let bytes = state.index.path(of: position) {
            return String(path: bytes)
        }
        // Renames among removed directories could lead in a circle.
        guard depth < 64, let place = gone[item] else { return nil }
        return path(place, depth + 1)
    }
}
