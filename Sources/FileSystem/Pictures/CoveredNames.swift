internal import Catalog
internal import Model
internal import Pictures
internal import SystemCalls

/// Documents that others are renamed over.
///
/// Until the rename is answered the kernel's name leads to the document that was there before, while the
/// index has the new one already: who reads by that name reads the old content, and the picture has to be
/// that of the old one too. Part of the volume's state, and so under its lock.
struct CoveredNames {
    struct Place: Hashable, Sendable {
        var directory: ItemNumber
        var name: [UInt8]
    }
    /// Names of documents without names that are remembered: requests that came by them may be on their
    /// way still when the rename was answered.
    private static let rememberedNames = 1_024

    /// What the kernel shows in places whose rename is not answered.
    private var shown: [Place: ItemNumber] = [:]
    private var names = Recent<ItemNumber, [UInt8]>(limit: rememberedNames)

    /// The document's last name is being taken by another.
    mutating func cover(_ item: ItemNumber, at place: Place) {
        shown[place] = item
        names.insert(place.name, for: item, weight: 1)
    }

    /// The kernel is told what the name leads to now.
    mutating func uncover(_ place: Place) { shown[place] = nil }

    /// The document that the kernel still shows there; nil: the one that the index has.
    func item(at place: Place) -> ItemNumber? { shown.isEmpty ? nil : shown[place] }

    /// The name that the document had before another took it.
    mutating func lastName(of item: ItemNumber) -> [UInt8]? { names[item] }
}

extension VolumeState {
    /// The document that the kernel shows under a name, as the subject of a picture; nil if there is
    /// none.
    func shownSubject(_ name: [UInt8], in directory: MemoryIndex.Position) -> PictureSubject? {
        let place = CoveredNames.Place(directory: number(directory), name: name)
        if let old = covered.item(at: place), let subject = coveredSubject(index.find(old)) {
            return subject
        }
        let entry = name.withUnsafeBytes { index.lookup(directory, $0) }
        return entry == 0 ? nil : pictureSubject(index[name: entry].pointee.item)
    }

    /// The subject of a picture that may be waited for: of a document that another was renamed over
    /// none is drawn any more.
    func awaitedSubject(of node: NodeNumber) -> PictureSubject? {
        coveredSubject(index.find(node.item)) == nil ? pictureSubject(of: node) : nil
    }

    /// The version of a document that another was renamed over; nil for all others.
    func coveredSubject(_ position: MemoryIndex.Position) -> PictureSubject? {
        guard position != 0, index[item: position].pointee.firstName == 0,
            let name = covered.lastName(of: number(position))
        else { return nil }
        return pictureSubject(position, named: name)
    }
}

extension Volume {
    /// Runs `reply` when the kernel has forgotten what a rename made stale; from then on the name leads
    /// to what was renamed.
    ///
    /// - Parameter nodes: what ``rename(_:_:_:_:flags:_:waited:)`` gave.
    func answerRename(
        to directory: NodeNumber, _ name: UnsafeRawBufferPointer, _ nodes: [NodeNumber],
        reply: @escaping @Sendable () -> Void
    ) {
        guard let pictures else { return refresh(nodes, then: reply) }
        let place = CoveredNames.Place(directory: directory.item, name: Array(name))
        let covered = state.withLock { $0.covered.item(at: place) }
        guard let covered else { return refresh(nodes, then: reply) }
        // Who waits for a picture of what goes would hold up the rename: the folder is theirs.
        pictures.queue.endWaits(for: covered)
        refresh(nodes) { [self] in
            uncover(place)
            reply()
        }
    }

    func uncover(_ place: CoveredNames.Place) {
        state.withLock { $0.covered.uncover(place) }
    }
}
