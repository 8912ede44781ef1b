internal import Model
internal import PathText

/// What an owner grants to this app, by name: two names are the same only if all their bytes are.
struct GrantedNames: Sendable {
    /// In the owner's order.
    let documents: [GrantOwners.Document]
    /// Another text as soon as anything of this is another at the owner's (``GrantOwners/stamp(of:)``);
    /// `nil` if the owner told none.
    let stamp: String?
    private let places: [PathKey: Int]

    init(_ documents: [GrantOwners.Document], stamp: String?) {
        self.documents = documents
        self.stamp = stamp
        places = Dictionary(
            documents.enumerated().map { (PathKey($1.name), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The document that is called so.
    subscript(name: String) -> GrantOwners.Document? {
        places[PathKey(name)].map { documents[$0] }
    }
}
