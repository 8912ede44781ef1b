internal import Catalog
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Documents by their ids, and their versions.
extension VirtualTree {
    func path(of document: DocumentID) -> [UInt8]? {
        volume.state.withLock { state in
            let position = state.index.holder(of: document)
            return position == 0 ? nil : state.index.path(of: position)
        }
    }

    /// The target of a symlink two levels below the root.
    static func fromBelow(_ path: [UInt8]) -> [UInt8] { Array("../../".utf8) + path }

    /// The target of a symlink three levels below the root.
    static func fromFolder(_ path: String) -> [UInt8] { Array("../../../".utf8) + path.pathBytes }

    func target(_ number: UInt64) throws(Errno) -> [UInt8] {
        switch try node(number) {
        case .document(_, let path), .bookmark(_, let path), .recent(_, let path, _):
            return Self.fromBelow(path) + [0]
        case .found(let path): return Self.fromFolder(path.text) + [0]
        default: throw Errno(EINVAL)
        }
    }

    /// The document's versions but the current one, with their file names, oldest first.
    func versions(of document: DocumentID) throws(Errno) -> [(String, VersionRow)] {
        let (suffix, current) = versionNaming(of: document)
        let rows: [VersionRow]? = try? volume.container.query { (database) throws(Failure) in
            try database.versions(of: document)
        }
        guard let rows else { throw Errno(EIO) }
        return rows.filter { $0.node != current }.map { ($0.fileName(suffix: suffix), $0) }
    }

    /// The one of them with a file name; ENOENT if there is none. It costs the same however many
    /// there are: who lists them looks each of them up, again and again.
    func version(of document: DocumentID, named file: String) throws(Errno) -> VersionRow {
        let (suffix, current) = versionNaming(of: document)
        // Behind the moment is the version's name, and then the document's extension.
        let name = file.drop { $0 != "Z" }.dropFirst(2).prefix { $0 != "." }
        guard let node = NodeNumber(versionName: name), node != current,
            let row = try volume.versionRow(node), row.document == document,
            row.fileName(suffix: suffix) == file
        else { throw Errno(ENOENT) }
        return row
    }

    /// The extension of the files of a document's versions, and the version that has none of them.
    private func versionNaming(of document: DocumentID) -> (suffix: String, current: NodeNumber?) {
        volume.state.withLock { state -> (suffix: String, current: NodeNumber?) in
            let position = state.index.holder(of: document)
            if position == 0 { return ("", nil) }
            let name = state.index[item: position].pointee.firstName
            var suffix = ""
            if name != 0 {
                let text = String(path: state.index.nameBytes(name))
                if let dot = text.lastIndex(of: "."), dot != text.startIndex {
                    suffix = String(text[dot...])
                }
            }
            return (suffix, state.index[item: position].pointee.node)
        }
    }

    /// A version; ENOENT if it is gone, EIO if the catalog cannot be asked.
    func row(_ item: ItemNumber, _ ordinal: Ordinal) throws(Errno) -> VersionRow {
        guard let row = try volume.versionRow(NodeNumber(item, ordinal)) else {
            throw Errno(ENOENT)
        }
        return row
    }
}
