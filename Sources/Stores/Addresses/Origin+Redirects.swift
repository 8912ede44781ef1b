extension Origin {
    /// The URL that a redirect's `Location` names, seen from the URL here that was asked for (RFC 3986, 5.2);
    /// `nil` if that is at another origin, or nowhere.
    func target(of location: String, from url: String) -> String? {
        // Some leave blanks and letters as they are.
        let location = PercentEncoding.encodingOthers(
            location.utf8.prefix { $0 != UInt8(ascii: "#") })
        if location.isEmpty { return nil }
        let absolute = location.afterScheme(isSecure ? "https://" : "http://")
        if let rest = absolute ?? location.afterScheme("//") {
            let host = rest.prefix { $0 != "/" && $0 != "?" }
            guard let named = try? Origin(isSecure: isSecure, parsing: host),
                named.host == self.host, named.effectivePort == effectivePort
            else { return nil }
            return self.url(rest[host.endIndex...])
        }
        if location.hasPrefix("/") { return self.url(location[...]) }
        let asked = url.dropFirst(text.count).prefix { $0 != "?" }
        if location.hasPrefix("?") { return self.url(asked + location) }
        // One with a colon is of another scheme.
        if location.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") { return nil }
        let folder = asked.lastIndex(of: "/").map { asked[...$0] } ?? "/"
        return self.url(folder + location)
    }

    /// The URL of a path, which may be empty, with what follows it; its parts `.` and `..` are followed.
    private func url(_ place: Substring) -> String {
        let path = place.prefix { $0 != "?" }
        var parts: [Substring] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            if part == ".." { _ = parts.popLast() }
            if part != ".", part != ".." { parts.append(part) }
        }
        if path.hasSuffix("/.") || path.hasSuffix("/..") { parts.append("") }
        return text + "/" + parts.joined(separator: "/") + place[path.endIndex...]
    }
}
