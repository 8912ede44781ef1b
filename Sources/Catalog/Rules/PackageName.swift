/// Which folders are documents.
package enum PackageName {
    /// Extensions of folders that programs show as one document, in lower case.
    package static let extensions: Set<String> = [
        "app", "band", "bundle", "framework", "graffle", "key", "logicx", "numbers", "oo3",
        "pages", "photoslibrary", "playground", "rtfd", "scriv", "theater", "xcodeproj",
    ]

    /// The length of the path's beginning that names the package which the rest is inside of; all
    /// of it if there is none.
    package static func depth(_ names: [[UInt8]]) -> Int {
        let found = names.dropLast().firstIndex { name in
            guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return false }
            let ending = String(decoding: name[(dot + 1)...], as: UTF8.self)
            return extensions.contains(ending.lowercased())
        }
        return found.map { $0 + 1 } ?? names.count
    }
}
