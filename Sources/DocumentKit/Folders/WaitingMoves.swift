internal import PathText

/// Moves of one moment, which are to be told one after the other.
struct WaitingMoves {
    private(set) var moves: [FolderTree.Move]
    private var formers: Set<PathKey>
    private var targets: Set<PathKey>

    init(_ moves: [FolderTree.Move]) {
        // From the end: innermost folders before those around them.
        self.moves = moves.sorted { $0.former.text.utf8.count < $1.former.text.utf8.count }
        formers = Set(moves.map(\.former))
        targets = Set(moves.map(\.path))
    }

    /// Whether what has the path moves there, or goes along.
    func lead(to path: PathKey) -> Bool { Self.holds(targets, path) }

    /// Whether something moves into a folder of this path, and it is not on its way itself.
    func need(_ path: PathKey) -> Bool {
        targets.contains { $0.isBelow(path) } && !lead(to: path) && !Self.holds(formers, path)
    }

    private static func holds(_ paths: Set<PathKey>, _ path: PathKey) -> Bool {
        var path = path
        while !path.text.isEmpty, !paths.isEmpty {
            if paths.contains(path) { return true }
            path = path.folder
        }
        return false
    }

    /// Takes one that is in the way of no other, nor others of it; `nil` if there is none.
    mutating func next(
        where isPossible: (FolderTree.Move) -> Bool, isFolder: (PathKey) -> Bool
    ) -> FolderTree.Move? {
        let index = moves.lastIndex { move in
            func isEmptied(_ folder: PathKey) -> Bool {
                !isFolder(folder) || !formers.contains { $0.isBelow(folder) }
            }
            let folder = move.path.folder
            return isPossible(move) && !formers.contains(move.path) && !Self.holds(formers, folder)
                && !Self.holds(targets, folder) && isEmptied(move.path) && isEmptied(move.former)
        }
        guard let index else { return nil }
        let move = moves.remove(at: index)
        formers.remove(move.former)
        targets.remove(move.path)
        return move
    }
}
