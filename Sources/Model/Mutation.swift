/// One step of a mutation on the catalog's tables.
///
/// Effects set state, they do not compute it: applying one twice, or applying a whole log again
/// from any earlier point, gives the same tables. Recovery rests on that.
package enum Effect: Hashable, Sendable {
    case putItem(ItemRow)
    case removeItem(ItemNumber)
    /// `rank` is the name's age among those of the item: 0 but for hard links, which are younger
    /// than the name that the document goes by.
    case putName(parent: ItemNumber, name: [UInt8], item: ItemNumber, rank: UInt32 = 0)
    case removeName(parent: ItemNumber, name: [UInt8])
    case putAttribute(ItemNumber, name: [UInt8], value: [UInt8])
    case removeAttribute(ItemNumber, name: [UInt8])
    case putVersion(VersionRow)
    case removeVersion(ItemNumber, Ordinal)
    /// All versions that `item` wrote belong to `document` from now on (save-by-rename).
    case adoptVersions(item: ItemNumber, document: DocumentID)
    /// Where the bytes of a version that is named by its hash lie now; nothing if there is none.
    case placeVersion(ItemNumber, Ordinal, ContentPlace)
    /// Whether the version stays whatever its age; a pin goes with its version.
    case pinVersion(ItemNumber, Ordinal, Bool)
    /// Whether the version is one of a conflict; the mark goes with its version.
    case markConflict(ItemNumber, Ordinal, Bool)
    /// The version counts as a save of its own, however soon it was replaced. The mark goes with
    /// its version.
    case keepApart(ItemNumber, Ordinal)
    case putBookmark(BookmarkRow)
    case removeBookmark(BookmarkID)
    case putGrant(GrantRow)
    case removeGrant(DocumentID, application: String)
    /// When a document was last opened by somebody.
    case putRecent(DocumentID, Timestamp)
    case removeRecent(DocumentID)
    case putSession(SessionRow)
    case removeSession(ItemNumber, Ordinal)
    case putSource(SourceRow)
    case putOrigin(OriginRow)
    /// Nothing if there is none.
    case removeOrigin(ItemNumber)
}

/// What a change was, as the log tells it to those who react to it.
package enum ChangeKind: UInt8, Sendable, CaseIterable {
    case created = 1
    case removed = 2
    /// A name moved; `parent` and `name` are the new ones.
    case renamed = 3
    /// Another name was given (hard link).
    case linked = 4
    case attributes = 5
    case extendedAttributes = 6
    /// A new version is current.
    case published = 7
    /// A close() or fsync() acknowledged staged bytes; nothing readers see changed.
    case staged = 8
    /// A version is durable and its hash known.
    case sealed = 9
    /// Earlier versions were thinned out.
    case pruned = 10
    /// An unlinked item's last user let go.
    case purged = 11
    /// A session ended without a publish.
    case discarded = 12
    /// The check of the container repaired something.
    case repaired = 13
    /// An access time moved, as relatime has it.
    case accessed = 14
    /// A version is in the container's store.
    case uploaded = 15
    /// A version's local blob was let go.
    case evicted = 16
    /// A version that was only promised is here, durably.
    case materialized = 17
    /// A version was pinned or unpinned.
    case versionPinned = 18
    /// A bookmark was made or revoked.
    case bookmarked = 19
    /// Documents were opened by somebody, or are not among the last any more.
    case opened = 20
    /// What is known of an item at its source is another; what it is here did not change.
    case imported = 21
    /// A version was marked as one of a conflict, or unmarked.
    case conflicted = 22
    /// A document was granted to an application, or a grant was changed or revoked.
    case granted = 23
    /// A version is to count as a save of its own; nothing that anybody sees changed.
    case keptApart = 24
}

/// A directory and a name in it.
package struct NamePlace: Hashable, Sendable {
    package var parent: ItemNumber
    /// Any bytes but a slash and a NUL.
    package var name: [UInt8]

    package init(parent: ItemNumber, name: [UInt8]) {
        self.parent = parent
        self.name = name
    }
}

/// A change of the container: an entry of the change log together with what it does to the tables.
package struct Mutation: Hashable, Sendable {
    /// Given by the catalog when it accepts the mutation; 0 before.
    package var sequence: ChangeSequence
    package var time: Timestamp
    package var kind: ChangeKind
    /// The item that changed.
    package var item: ItemNumber
    /// Where it has its (new) name, if the change was about one.
    package var parent: ItemNumber?
    package var name: [UInt8]?
    /// The process that asked, 0 if it was the daemon itself.
    package var process: Int32
    package var effects: [Effect]

    package init(
        sequence: ChangeSequence = 0, time: Timestamp, kind: ChangeKind, item: ItemNumber,
        parent: ItemNumber? = nil, name: [UInt8]? = nil, process: Int32 = 0, effects: [Effect]
    ) {
        self.sequence = sequence
        self.time = time
        self.kind = kind
        self.item = item
        self.parent = parent
        self.name = name
        self.process = process
        self.effects = effects
    }

    /// Where the name was that a rename moved; `nil` for other changes.
    ///
    /// The last name that the effects take away: those before made room for it. An exchange takes none
    /// away: there it is the name that another item gets.
    package var former: NamePlace? {
        guard kind == .renamed else { return nil }
        var taken: NamePlace?
        for effect in effects.reversed() {
            switch effect {
            case .removeName(let parent, let name):
                return NamePlace(parent: parent, name: name)
            case .putName(let parent, let name, let holder, _) where holder != item:
                taken = NamePlace(parent: parent, name: name)
            default: break
            }
        }
        return taken
    }
}
