internal import Catalog
internal import Model
internal import Pictures
internal import SystemCalls

extension VolumeState {
    /// Whether the document's name is one of those types'. Without making a string: every publish
    /// comes here.
    func isDrawnAtPublish(_ position: MemoryIndex.Position) -> Bool {
        let first = index[item: position].pointee.firstName
        guard first != 0 else { return false }
        let name = index.nameBytes(first)
        // The ends have 4 to 9 letters.
        guard let dot = name.suffix(10).lastIndex(of: UInt8(ascii: ".")), dot > 0,
            name.count - dot > 4
        else { return false }
        return PictureType(fileName: name).isDrawnAtPublish
    }

    /// Lets pictures follow a change that was just recorded. Under the volume's lock.
    @inline(__always)
    func followPictures(
        _ kind: ChangeKind, _ position: MemoryIndex.Position, _ effects: [Effect]
    ) {
        guard let pictures else { return }
        switch kind {
        case .created:
            let record = index[item: position].pointee
            if record.isSymlink { pictures.desktop?.placed(number(position)) }
            // A symlink may have led nowhere.
            if record.isDirectory { pictures.desktop?.renamed(effects, isDirectory: false) }
            followPromise(position, pictures, isNew: true)
        case .evicted: followPromise(position, pictures, isNew: false)
        case .materialized:
            pictures.desktop?.arrived(
                number(position), of: DocumentID(rawValue: index[item: position].pointee.document))
        case .published:
            let item = number(position)
            // A session had them forgotten when it began.
            if !index[item: position].pointee.flags.contains(.inSession) {
                forgetPictures(position)
            }
            // What a source has published is not here, and is not fetched for its picture.
            if !index[item: position].pointee.place.isAway, isDrawnAtPublish(position) {
                if let subject = pictureSubject(position) { pictures.published(subject) }
            } else {
                // There may be entries of the version before, from another mount or by others.
                let record = index[item: position].pointee
                pictures.desktop?.changed(
                    item, of: record.ordinal > 1 ? nil : DocumentID(rawValue: record.document))
            }
        case .renamed, .removed, .linked:
            forgetPictures(position, effects)
            pictures.moved(self, position, effects)
        case .attributes:
            forgetPictures(position)
            let record = index[item: position].pointee
            if record.isRegular || record.isDirectory {
                // A directory counts for what is below it.
                pictures.desktop?.changed(
                    number(position),
                    of: record.isDirectory ? nil : DocumentID(rawValue: record.document))
            }
        default: break
        }
    }

    /// A document was made that is not here, or is not any more.
    private func followPromise(
        _ position: MemoryIndex.Position, _ pictures: VolumePictures, isNew: Bool
    ) {
        guard let desktop = pictures.desktop, index[item: position].pointee.place.isAway else {
            return
        }
        var name = index[item: position].pointee.firstName
        while name != 0 {
            desktop.promised(
                number(position), named: Array(index.nameBytes(name)),
                in: number(index[name: name].pointee.parent), isNew: isNew)
            name = index[name: name].pointee.nextOfItem
        }
    }
}

extension VolumePictures {
    /// Names came and went. Under the volume's lock.
    fileprivate func moved(
        _ state: VolumeState, _ position: MemoryIndex.Position, _ effects: [Effect]
    ) {
        let record = state.index[item: position].pointee
        guard record.isRegular || record.isDirectory || record.isSymlink else { return }
        if record.isRegular, let subject = state.pictureSubject(position),
            subject.type.isDrawnAtPublish, subject.node.ordinal > 0
        {
            // Saved by rename: it was published under a name that told nothing.
            askAtOnce(subject)
        }
        if record.links == 0 {
            // Who waits is called back, and takes the volume's lock.
            let item = state.number(position)
            volume.scheduler.at(MonotonicClock.now) { [weak self] in self?.cancel(item) }
        }
        guard let desktop else { return }
        desktop.renamed(effects, isDirectory: record.isDirectory)
        for left in Self.namesLeft(by: state.number(position), effects) {
            let (above, former) = (state.index.find(left.parent), state.index.find(left.item))
            guard above != 0, former != 0 else { continue }
            let record = state.index[item: former].pointee
            desktop.left(
                left.name, in: above, state.index, now: record.links > 0 ? left.item : nil,
                isDirectory: record.isDirectory)
        }
        // What is below a directory follows from the name it had.
        if record.isSymlink {
            desktop.placed(state.number(position))
        } else if !record.isDirectory {
            desktop.changed(state.number(position))
        }
    }

    private struct LeftName {
        var parent: ItemNumber
        var name: [UInt8]
        /// Whose it was.
        var item: ItemNumber
    }

    /// The names that are not an item's any more, or not another's that changed places with it.
    private static func namesLeft(by item: ItemNumber, _ effects: [Effect]) -> [LeftName] {
        // An exchange removes no name: each gets the other item.
        var other: ItemNumber?
        for effect in effects {
            if case .putName(_, _, let holder, _) = effect, holder != item { other = holder }
        }
        var names: [LeftName] = []
        for effect in effects {
            switch effect {
            case .removeName(let parent, let name):
                names.append(LeftName(parent: parent, name: name, item: item))
            case .putName(let parent, let name, let holder, _):
                guard let other else { continue }
                names.append(
                    LeftName(parent: parent, name: name, item: holder == item ? other : item))
            default: break
            }
        }
        return names
    }
}
