internal import Catalog
internal import Model
internal import Pictures
internal import SystemCalls

/// Names and attributes below `.shapeedit/thumbnails` that the kernel may keep and that are not right
/// any more.
struct StaleNames: Sendable {
    var item: ItemNumber
    /// The version that was current; its pictures' attributes are to be forgotten.
    var node: NodeNumber
    var isDirectory: Bool
    /// Where names of it are or were: the directories' items and the names.
    var names: [(directory: ItemNumber, name: [UInt8])]
}

/// What the kernel may keep of pictures. See the page Pictures.
///
/// The rule: whoever answers with a name or attributes that may be kept sets the item's flag
/// `isPictured` in the same hold of the volume's lock in which they were found; whoever changes what a
/// name leads to, or begins to, finds the flag, and the request that changes it is answered after the
/// kernel has forgotten.
extension VolumeState {
    /// The item's pictures are about to change, or their attributes: the kernel has to ask again.
    func forgetPictures(_ position: MemoryIndex.Position) { forgetPictures(position, besides: []) }

    /// - Parameter besides: names that were or are the item's.
    private func forgetPictures(
        _ position: MemoryIndex.Position, besides: [(directory: ItemNumber, name: [UInt8])]
    ) {
        let record = index[item: position]
        guard let pictures, record.pointee.flags.contains(.isPictured) else { return }
        record.pointee.flags.remove(.isPictured)
        let names = names(of: position).map {
            (directory: ItemNumber(rawValue: $0.parent), name: $0.name)
        }
        pictures.stale.add(
            StaleNames(
                item: number(position), node: record.pointee.node,
                isDirectory: record.pointee.isDirectory, names: names + besides))
    }

    /// Names came and went with these effects of a change of the item.
    func forgetPictures(_ position: MemoryIndex.Position, _ effects: [Effect]) {
        var names: [(directory: ItemNumber, name: [UInt8])] = []
        var items = [number(position)]
        for effect in effects {
            switch effect {
            case .removeName(let parent, let name): names.append((parent, name))
            case .putName(let parent, let name, let item, _):
                names.append((parent, name))
                items.append(item)
            case .putItem(let row): items.append(row.number)
            default: break
            }
        }
        for item in Set(items) where !names.contains(where: { $0.directory == item }) {
            let position = index.find(item)
            if position != 0 { forgetPictures(position, besides: names) }
        }
    }
}

/// Collects stale names under the volume's lock, until somebody has the kernel forget them.
final class StaleList: Sendable {
    private struct State {
        var list: [StaleNames] = []
        /// Taken by somebody, and perhaps not forgotten by the kernel yet.
        var underWay = 0
    }
    private let state = Lock(State())

    func add(_ names: StaleNames) { state.withLock { $0.list.append(names) } }

    /// Hands on all that was added since the last call, to be ended by ``end()``; false if there is
    /// nothing, and nothing under way.
    ///
    /// - Parameter hand: under the lock, so that who takes what is left comes after this.
    func take(_ hand: ([StaleNames]) -> Void) -> Bool {
        state.withLock { state in
            if state.list.isEmpty, state.underWay == 0 { return false }
            state.underWay += 1
            hand(state.list)
            state.list = []
            return true
        }
    }

    /// The kernel has forgotten what was taken.
    func end() { state.withLock { $0.underWay -= 1 } }
}

extension VolumePictures {
    /// Runs `then` when the kernel has forgotten what became stale; at once if that is nothing. What
    /// another request has taken is waited for: jobs of the notifier run one after the other.
    func settle(then: @escaping @Sendable () -> Void) {
        let isPosted = stale.take { names in
            notifier.post { [self] in
                forget(names)
                stale.end()
                then()
            }
        }
        if !isPosted { then() }
    }

    private func forget(_ stale: [StaleNames]) {
        guard let tree = tree.withLock({ $0 })?.tree else { return }
        for names in stale {
            let (entries, nodes, placeholders) = tree.kept(names)
            let below = names.isDirectory ? tree.placeholders(below: names.item) : []
            // Without its name nobody could be told of it later.
            for (directory, node, name) in placeholders + below {
                volume.channel?.announceDeletion(parent: directory, node: node, name: name)
            }
            for (directory, name) in entries {
                volume.channel?.invalidateEntry(parent: directory, name: name)
            }
            for node in nodes { volume.channel?.invalidate(node: node, pages: false) }
        }
    }
}

extension VirtualTree {
    /// What the kernel may keep of stale names: the nodes of directories with names in them, nodes, and
    /// placeholders of these names, which somebody may watch.
    func kept(_ stale: StaleNames) -> (
        entries: [(UInt64, [UInt8])], nodes: [UInt64],
        placeholders: [(parent: UInt64, node: UInt64, name: [UInt8])]
    ) {
        var entries: [(UInt64, [UInt8])] = []
        var placeholders: [(parent: UInt64, node: UInt64, name: [UInt8])] = []
        var nodes: [UInt64] = []
        for size in PictureSize.allCases {
            for (directory, name) in stale.names {
                if let above = known(.thumbnails(of: directory, size)) {
                    entries.append((above, stale.isDirectory ? name : name + Self.pictureEnd))
                }
                // Known without a folder of pictures, too: to apps it is granted to.
                if stale.isDirectory { continue }
                var picture = PictureNode(
                    node: stale.node, size: size, type: PictureType(fileName: name),
                    isPlaceholder: false)
                if let node = known(.picture(picture)) { nodes.append(node) }
                picture.isPlaceholder = true
                if let known = known(placeholder: picture, of: name, in: directory) {
                    placeholders.append(known)
                }
            }
            if stale.isDirectory, let node = known(.thumbnails(of: stale.item, size)) {
                nodes.append(node)
            }
        }
        return (entries, nodes, placeholders)
    }

    /// By what the kernel knows the placeholders of documents in a directory and those below it: it forgets their
    /// names with the directory's. No more of them are looked at than there can be watches of in earnest.
    func placeholders(
        below directory: ItemNumber
    ) -> [(parent: UInt64, node: UInt64, name: [UInt8])] {
        let known = state.withLock { $0.placeholders.prefix(Self.placeholderLimit) }
        if known.isEmpty { return [] }
        let places = volume.state.withLock { state in
            known.flatMap { picture in
                state.names(of: picture.node.item, below: directory).map { (picture, $0) }
            }
        }
        return places.compactMap { picture, place in
            self.known(placeholder: picture, of: place.name, in: place.directory)
        }
    }

    private static let placeholderLimit = 65_536
}

extension VolumeState {
    /// The names that an item has in a directory and those below it.
    fileprivate func names(
        of item: ItemNumber, below directory: ItemNumber
    ) -> [(directory: ItemNumber, name: [UInt8])] {
        let position = index.find(item)
        if position == 0 { return [] }
        return names(of: position).compactMap { place in
            var above = index.find(ItemNumber(rawValue: place.parent))
            while above != 0, number(above) != directory {
                let name = index[item: above].pointee.firstName
                above = name == 0 ? 0 : index[name: name].pointee.parent
            }
            return above == 0 ? nil : (ItemNumber(rawValue: place.parent), place.name)
        }
    }
}
