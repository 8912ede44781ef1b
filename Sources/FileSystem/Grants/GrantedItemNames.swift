internal import Model

/// The names under `.shapeedit/granted` by which mounts of applications have looked items up.
///
/// The kernel keeps such a name until it is asked for again, and the item's node with it, so that of a
/// document that was removed its bytes would stay as long. Guarded by the volume's lock.
struct GrantedItemNames {
    /// A document in the folder of an application.
    struct Name: Hashable, Sendable {
        var document: DocumentID
        var application: String
    }

    private var names: [ItemNumber: Set<Name>] = [:]
    /// Has the kernel forget names, later and elsewhere.
    var forget: (@Sendable (Set<Name>) -> Void)?

    /// Notes that an item is about to be found by a name.
    mutating func note(_ name: Name, of item: ItemNumber) {
        names[item, default: []].insert(name)
    }

    /// Has the kernel forget those of an item that has no other name any more.
    mutating func release(_ item: ItemNumber) {
        guard !names.isEmpty, let gone = names.removeValue(forKey: item) else { return }
        forget?(gone)
    }
}

extension VirtualTree {
    /// Has the kernel look a granted document up anew. Only on the name notifier's thread.
    func forget(granted name: GrantedItemNames.Name) {
        guard let parent = known(.grantedTo(name.application)) else { return }
        for text in ["\(name.document)", "\(name.document)\(Self.sharedSuffix)"] {
            volume.channel?.invalidateEntry(parent: parent, name: Array(text.utf8))
        }
    }
}
