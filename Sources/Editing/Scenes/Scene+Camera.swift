import Documents

extension Scene {
    mutating func moveCamera(_ words: inout Arguments) throws(EditError) {
        let action = try words.next("orbit, pan, zoom, reset or look-at")
        guard action == "look-at" else {
            return try camera.move(action, &words)
        }
        guard words.rest.count == 1, let text = words.rest.first, text.contains(","),
            let point = try? ValueText.vector(text)
        else {
            let parts = SceneParts(self)
            let index = try parts.findOne(try words.target())
            try words.end()
            camera.orientation = .target(origin(of: parts.path(of: index)))
            return
        }
        camera.orientation = .target(point)
    }
}
