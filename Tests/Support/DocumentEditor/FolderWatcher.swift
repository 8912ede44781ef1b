import DocumentKit

/// Prints what happens to a folder and below it, and what a query finds there, until its input ends.
final class FolderWatcher: FilePresenter {
    static func watch(_ folder: String) throws {
        let presentation = try FilePresentation(of: folder, FolderWatcher())
        let query = try MetadataQuery(Query(), below: folder) { update in
            switch update {
            case .gathered(let items), .changed(_, let items):
                let paths = items.map(\.path).sorted()
                print("found " + paths.map { name($0, in: folder) }.joined(separator: " "))
            case .ended: print("nothing more is found")
            }
        }
        try query.start()
        while readLine() != nil {}
        query.stop()
        presentation.end()
    }

    private static func name(_ path: String, in folder: String) -> String {
        String(path.dropFirst(folder.count + 1))
    }

    func subitemChanged(_ change: SubitemChange) {
        switch change {
        case .appeared(let path): print("appeared \(path)")
        case .changed(let path): print("changed \(path)")
        case .moved(let path, let target): print("moved \(path) to \(target)")
        case .deleted(let path): print("deleted \(path)")
        }
    }
    func itemMoved(to path: String) { print("now at \(path)") }
    func itemDeleted() { print("deleted") }
    func presentationEnded() { print("nothing more is told") }
}
