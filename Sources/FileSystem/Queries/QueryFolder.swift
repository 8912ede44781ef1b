internal import Coordination
internal import Model
internal import PathText

/// The results of a saved query, as its folder shows them.
struct QueryFolder: Sendable {
    /// By its name, and what it leads to.
    typealias Link = (String, VirtualNode)

    /// How the links have become others.
    struct Change {
        var gone: [Link] = []
        var came: [Link] = []
    }

    /// With more than so many changes at once the links are made anew.
    private static let many = 64

    /// In the query's order.
    private(set) var links: [Link]
    /// What they lead to, by their names.
    private var nodes: [PathKey: VirtualNode]
    /// Names that would be others if other results were there.
    private let contested: Set<PathKey>

    /// - Parameter results: in the query's order.
    init(_ results: [Found]) { self.init(paths: results.map(\.path)) }

    private init(paths: [String]) {
        var names = DistinctNames()
        links = paths.map { (names.take(String($0.lastName)), .found(PathKey($0))) }
        nodes = Dictionary(
            links.map { (PathKey($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
        contested = names.contested
    }

    /// What a link leads to.
    func node(_ name: String) -> VirtualNode? { nodes[PathKey(name)] }

    /// How this has become another.
    func change(to other: QueryFolder) -> Change {
        Change(
            gone: links.filter { other.node($0.0) != $0.1 },
            came: other.links.filter { node($0.0) != $0.1 })
    }

    /// Follows how the results have become others.
    ///
    /// Where only names are concerned that nobody else wants they are changed in their places: to make the
    /// links of 100,000 results anew takes a quarter of a second.
    mutating func follow(_ batch: QueryBatch) -> Change {
        if let change = changeInPlace(batch) {
            batch.difference.apply(to: &links, added: batch.added.map(Self.link))
            for (index, result) in zip(batch.difference.updated, batch.updated) {
                // One with a number has the name of another.
                let link = Self.link(result)
                if links[index].1 != link.1 { links[index] = link }
            }
            for (name, _) in change.gone { nodes[PathKey(name)] = nil }
            for (name, node) in change.came { nodes[PathKey(name)] = node }
            return change
        }
        var paths = links.map { link -> String in
            guard case .found(let path) = link.1 else { return link.0 }
            return path.text
        }
        batch.difference.apply(
            to: &paths, added: batch.added.map(\.path), updated: batch.updated.map(\.path))
        let before = self
        self = QueryFolder(paths: paths)
        return before.change(to: self)
    }

    /// What a batch changes if it leaves the names of all others as they are; else `nil`.
    private func changeInPlace(_ batch: QueryBatch) -> Change? {
        let difference = batch.difference
        let going = (difference.removed + difference.moved.map(\.from)).sorted()
        let coming = (difference.added + difference.moved.map(\.to)).sorted()
        guard going.count + coming.count + difference.updated.count <= Self.many else { return nil }
        var gone = difference.removed.map { links[$0] }
        var came = batch.added.map(Self.link)
        for (index, result) in zip(difference.updated, batch.updated) {
            let former: Int
            if let move = difference.moved.first(where: { $0.to == index }) {
                former = move.from
            } else {
                // Its place among those that stay, and where that was.
                let place = index - coming.count { $0 < index }
                former = going.reduce(place) { $1 <= $0 ? $0 + 1 : $0 }
            }
            let link = Self.link(result)
            if links[former].1 == link.1 { continue }
            gone.append(links[former])
            came.append(link)
        }
        let isMoved = difference.moved.contains { contested.contains(PathKey(links[$0.from].0)) }
        let left = Set(gone.map { PathKey($0.0) })
        let taken = Set(came.map { PathKey($0.0) })
        guard !isMoved, contested.isDisjoint(with: left), contested.isDisjoint(with: taken),
            taken.count == came.count,
            taken.allSatisfy({ nodes[$0] == nil || left.contains($0) })
        else { return nil }
        // What was saved by renaming is another item by the same path.
        let isSame = { (one: Link, other: Link) in one.0 == other.0 && one.1 == other.1 }
        return Change(
            gone: gone.filter { link in !came.contains { isSame($0, link) } },
            came: came.filter { link in !gone.contains { isSame($0, link) } })
    }

    private static func link(_ result: Found) -> Link {
        (String(result.name), .found(PathKey(result.path)))
    }
}
