internal import Catalog
internal import Model
internal import SystemCalls

/// The key that signs a container's bookmarks; it never leaves the container's folder.
enum BookmarkKey {
    private static let name = "bookmarkKey"

    /// The catalog's key; makes one if there is none. The caller makes it durable before it is used.
    static func load(_ database: CatalogDatabase) throws(Failure) -> [UInt8] {
        if let text = try database.meta(name) {
            guard let key = bytes(text) else {
                throw Failure(.badData, "\(database.path): the key of the bookmarks is damaged")
            }
            return key
        }
        let words = (0..<4).map { _ in UInt64.random(in: .min ... .max) }
        let text = words.map(hexadecimal).joined()
        try database.setMeta(name, text)
        return bytes(text) ?? []
    }

    /// The catalog's key, if there is one and it can be read.
    static func known(in database: CatalogDatabase) -> [UInt8]? {
        guard let text = try? database.meta(name) else { return nil }
        return bytes(text)
    }

    /// What is signed to get it: no other use of the key signs this.
    private static let purpose = "shapeedit container 1\n"

    /// What only the container with this key is called: 32 hexadecimal digits.
    static func containerID(_ key: [UInt8]) -> String {
        Hexadecimal.text(Hashing.authentication(key: key, Array(purpose.utf8)).prefix(16))
    }

    /// Removes a damaged key, so that the next ``load(_:)`` makes a new one; says whether it was one.
    static func repair(_ database: CatalogDatabase) throws(Failure) -> Bool {
        guard let text = try database.meta(name), bytes(text) == nil else { return false }
        try database.setMeta(name, nil)
        return true
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count == 64 else { return nil }
        return Hexadecimal.bytes(text.utf8)
    }
}
