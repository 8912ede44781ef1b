/// A `response` of a PROPFIND.
extension XMLElement {
    /// The name of what it tells of, if that is directly in the collection at `path` (decoded).
    func memberName(of path: String) -> String? {
        guard var name = text("href").flatMap({ PercentEncoding.decode($0) }) else { return nil }
        // Some servers answer with a path, some with a whole URL.
        if let rest = name.afterOrigin { name = rest }
        while name.hasSuffix("/") { name.removeLast() }
        guard name.hasPrefix(path + "/") else { return nil }
        name = String(name.dropFirst(path.count + 1))
        return name.isEmpty || name.contains("/") ? nil : name
    }

    /// The properties that the server has.
    var foundProperties: [XMLElement] {
        all("propstat")
            .filter { ($0.text("status") ?? "").split(separator: " ").dropFirst().first == "200" }
            .flatMap { $0.first("prop")?.children ?? [] }
    }
}

extension String {
    /// The path of an HTTP URL; `nil` if it is none.
    fileprivate var afterOrigin: String? {
        for scheme in ["http://", "https://"] where hasPrefix(scheme) {
            return String(dropFirst(scheme.count).drop { $0 != "/" })
        }
        return nil
    }
}
