/// A `response` of a PROPFIND.
extension XMLElement {
    /// The name of what it tells of, if that is directly in the collection at `path` (decoded).
    func memberName(of path: String) -> String? {
        guard let href = text("href").flatMap({ PercentEncoding.decode($0) }) else { return nil }
        // Some servers answer with a path, some with a whole URL. A mark may stand at a name's start:
        // as characters it would be one with the slash.
        var name = Array((href.afterOrigin ?? href).utf8)[...]
        while name.last == 0x2f { name.removeLast() }
        guard let slash = name.lastIndex(of: 0x2f),
            String(decoding: name[..<slash], as: UTF8.self) == path
        else { return nil }
        return String(decoding: name[(slash + 1)...], as: UTF8.self)
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
            return String(
                decoding: utf8.dropFirst(scheme.utf8.count).drop { $0 != 0x2f }, as: UTF8.self)
        }
        return nil
    }
}
