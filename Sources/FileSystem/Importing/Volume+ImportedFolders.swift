internal import Catalog
internal import Model

extension Volume {
    /// What is not shown any more and stays here has moved along with the folder that it is in: gives its
    /// path, at which the source may show something next, accordingly. `rows` are by descending path.
    func followFolders(_ rows: inout [OriginRow], _ state: ImportPass.State) {
        var formerly = state.formerly
        if formerly.isEmpty { return }
        var paths: [ItemNumber: [UInt8]] = [:]
        for (path, item) in state.folders { paths[item] = path }
        self.state.withLock { volume in
            // Folders before what is in them.
            for number in rows.indices.reversed() {
                let row = rows[number]
                guard let folder = volume.firstPlace(volume.index.find(row.item))?.parent,
                    let now = paths[folder],
                    formerly[folder] == ImportMessage.Entry.parent(row.path)
                else { continue }
                let name = ImportMessage.Entry.name(row.path)
                rows[number].path = now.isEmpty ? Array(name) : now + [0x2f] + name
                if row.waitsAt == NamePlace(parent: folder, name: Array(name)) {
                    rows[number].waitsAt = nil
                }
                guard row.tag.isEmpty else { continue }
                formerly[row.item] = row.path
                paths[row.item] = rows[number].path
            }
        }
    }

    /// The rows in an order in which all can be removed: folders after what is in them. Where they are here
    /// tells that, and not their paths: of a run that was cut off some are known by their former ones still.
    func foldersLast(_ rows: [OriginRow]) -> [OriginRow] {
        let folders = state.withLock { volume in
            rows.filter(\.tag.isEmpty).map { row in
                var depth = 0
                var position = volume.index.find(row.item)
                while position != 0 {
                    position = volume.index.parent(of: position)
                    depth += 1
                }
                return (row, depth)
            }
        }
        return rows.filter { !$0.tag.isEmpty } + folders.sorted { $0.1 > $1.1 }.map(\.0)
    }
}
