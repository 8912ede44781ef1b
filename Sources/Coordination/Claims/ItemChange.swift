/// Something happened to an item, as the change log tells it.
package struct ItemChange: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A name that was not there is.
        case appeared
        /// Content or attributes are others.
        case changed
        case deleted
        /// The name leads to another item, which led to this one's place: so do those below it.
        case exchanged
        /// Renamed from there; `replacing` if another item had the new name.
        case moved(from: ClaimPath, replacing: Bool)
        /// A version was published: content, and one version more.
        case published
        case versionLost
        case versionConflict
    }
    package var kind: Kind
    /// Where it is, or was when it went.
    package var path: ClaimPath
    /// Who did it; 0 if nobody outside did.
    package var process: Int32
    /// That process and those above it, as far as they are known: it works under their claims.
    package var family: [Int32]

    package init(_ kind: Kind, _ path: ClaimPath, by process: Int32, family: [Int32]? = nil) {
        self.kind = kind
        self.path = path
        self.process = process
        self.family = family ?? [process]
    }
}
