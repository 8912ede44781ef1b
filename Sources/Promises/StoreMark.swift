internal import Model
internal import Stores

/// What a store says of who uses it (``StoreOwnership``): two small files of two writers. An owner writes its own
/// and then reads the other; who joins writes the other and then reads the owner's. So one of two that cross sees
/// the other one. Blocks on the store.
struct StoreMark: Sendable {
    /// The word of a store that nobody owns.
    static let shared = "shared"
    /// Ends a token, or the word of a shared store, while the store may yet remove something.
    static let removing = "removing"
    /// The word of a store that nobody owns while it may yet remove something for who owned it.
    static let sharedRemoving = "\(shared)-\(removing)"

    private static let none = ContentHash(bytes: [UInt8](repeating: 0, count: 32))
    private static let owner = none.flatMap { Companion($0, kind: "owner") }
    private static let joined = none.flatMap { Companion($0, kind: "joined") }

    let store: any ContentStore

    static func isRemoving(_ word: some StringProtocol) -> Bool { word.hasSuffix(removing) }

    static func isShared(_ mark: String?) -> Bool { mark == shared || mark == sharedRemoving }

    /// A new one for an owner.
    static func token(isRemoving: Bool) -> String {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<2).map { _ in String(generator.next(), radix: 16) }
        return (words + (isRemoving ? [removing] : [])).joined(separator: "-")
    }

    /// An owner's token, or that nobody is one; `nil`: none has ever been there.
    func read(_ call: StoreCall) throws(StoreError) -> String? {
        guard let name = Self.owner else { return nil }
        return try store.get(name, call).map { String(decoding: $0, as: UTF8.self) }
    }

    func write(_ text: String, _ call: StoreCall) throws(StoreError) {
        guard let name = Self.owner else { return }
        try store.put(name, Array(text.utf8), call)
    }

    /// Whether anybody but an owner uses the store, or is about to.
    func isJoined(_ call: StoreCall) throws(StoreError) -> Bool {
        guard let name = Self.joined else { return false }
        return try store.get(name, call) != nil
    }

    /// For ever. To be said before the mark is read that is then written over.
    func join(_ call: StoreCall) throws(StoreError) {
        guard let name = Self.joined else { return }
        try store.put(name, Array(Self.shared.utf8), call)
    }
}
