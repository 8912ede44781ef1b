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
}
