package import Documents
internal import PathText

/// Paths in JSON: text, and where that is not all of it, the bytes in Base64 beside it.
extension JSONObject {
    /// The path that a member tells, as `PathText` makes it; `nil` if there is none. Where there are its
    /// bytes, those count, and have to be some.
    package func path(_ name: String) -> String? {
        switch self[name + PathText.bytesEnd] {
        case nil, .null: self[name]?.string.map { String(path: $0.utf8) }
        case .string(let base64): Base64.decode(base64.utf8).map { String(path: $0) }
        default: nil
        }
    }

    /// Tells a path by a member.
    package mutating func setPath(_ name: String, _ path: String) {
        for (key, text) in PathText.members(name, path, { $0 }) { self[key] = .string(text) }
    }

    /// The paths of a list, in its order.
    package func paths(_ name: String) -> [String] {
        if let list = self[name + PathText.bytesEnd]?.array {
            return list.compactMap { $0.string.flatMap { Base64.decode($0.utf8) } }
                .map { String(path: $0) }
        }
        return (self[name]?.array ?? []).compactMap { $0.string }.map { String(path: $0.utf8) }
    }

    /// Tells a list of paths; if the text of one is not all of it, the bytes of all of them too.
    package mutating func setPaths(_ name: String, _ paths: [String]) {
        self[name] = .array(paths.map { .string($0.repairedPath) })
        guard paths.contains(where: \.hasPathMarks) else { return }
        self[name + PathText.bytesEnd] = .array(paths.map { .string(Base64.encode($0.pathBytes)) })
    }
}
