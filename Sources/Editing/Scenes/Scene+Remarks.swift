import Documents

extension Scene {
    /// What is worth knowing about it though nothing is wrong: keys nobody here knows.
    var remarks: [String] { others(UnknownKeys.remarks) }

    /// The paths of keys nobody here knows.
    var unknownPaths: [String] { others(UnknownKeys.paths) }

    /// What `tell` says of each object in it, given the known keys and what makes a path of a key.
    private func others(
        _ tell: (JSONObject, Set<String>, (String) -> String) -> [String]
    ) -> [String] {
        var said = tell(source, SceneKeys.scene.union([SceneKey.shapeFile])) { $0 }
        said += tell(camera.source, SceneKeys.camera) { "camera.\($0)" }
        let parts = SceneParts(self)
        for (index, entry) in parts.entries.enumerated() where said.count < Limits.listedRepairs {
            let source =
                switch entry.node {
                case .solid(let solid): solid.source
                case .group(let group): group.source
                }
            said += tell(source, SceneKeys.of(entry.node)) {
                "\(parts.index.path(of: index)).\($0)"
            }
        }
        return said
    }
}
