import Documents

extension Scene {
    /// What is worth knowing about it though nothing is wrong: keys nobody here knows.
    var remarks: [String] {
        var remarks = UnknownKeys.remarks(of: source, known: SceneKeys.scene) { $0 }
        remarks += UnknownKeys.remarks(of: camera.source, known: SceneKeys.camera) {
            "camera.\($0)"
        }
        let parts = SceneParts(self)
        for (index, entry) in parts.entries.enumerated() where remarks.count < Limits.listedRepairs
        {
            let source =
                switch entry.node {
                case .solid(let solid): solid.source
                case .group(let group): group.source
                }
            remarks += UnknownKeys.remarks(of: source, known: SceneKeys.of(entry.node)) {
                "\(parts.index.path(of: index)).\($0)"
            }
        }
        return remarks
    }
}
