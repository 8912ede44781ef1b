internal import Catalog
internal import Glibc
internal import Model

/// A change of a name or a content that came otherwise than through the kernel, to be repeated on the
/// mount so that those who watch it are told.
struct ReplayStep: Sendable {
    /// A name in a directory.
    struct Place: Hashable, Sendable {
        var parent: ItemNumber
        var name: [UInt8]

        static func == (one: Place, other: Place) -> Bool {
            one.parent == other.parent && one.name == other.name
        }
    }

    enum Kind: Sendable {
        /// The name came: of a file that was written, a folder, a symlink to `target`.
        case made(target: [UInt8])
        /// The item has another content.
        case written
        case removed
        case moved(to: Place)
    }

    var kind: Kind
    var place: Place
    /// What the name leads to, or led to; its type and permissions.
    var node: NodeNumber
    var mode: UInt32
    /// The directory's path when the step was made, for one that is removed meanwhile.
    var folder: [UInt8] = []
    /// Whether the kernel knew a directory that somebody may watch for this.
    var isWatchable: Bool

    var makesFolder: Bool {
        if case .made = kind { mode & S_IFMT == S_IFDIR } else { false }
    }

    /// The names that it is about.
    var places: [Place] {
        if case .moved(let target) = kind { [place, target] } else { [place] }
    }
}

extension VolumeState {
    /// A step about an item at a name of a directory.
    func replayStep(
        _ kind: ReplayStep.Kind, _ item: MemoryIndex.Position, _ directory: MemoryIndex.Position,
        _ name: [UInt8]
    ) -> ReplayStep {
        let record = index[item: item]
        var step = ReplayStep(
            kind: kind, place: ReplayStep.Place(parent: number(directory), name: name),
            node: record.pointee.node, mode: record.pointee.mode,
            isWatchable: isWatchable(directory))
        switch kind {
        case .made, .written: break
        case .removed: step.folder = index.path(of: directory) ?? []
        case .moved(let target):
            step.folder = index.path(of: directory) ?? []
            let above = index.find(target.parent)
            step.isWatchable = step.isWatchable || above != 0 && isWatchable(above)
        }
        return step
    }

    /// Whether the kernel knows the directory: only then somebody can watch it.
    func isWatchable(_ directory: MemoryIndex.Position) -> Bool {
        number(directory) == .root || isKnown(directory)
    }

    /// The item that a place leads to; 0 for none.
    func item(at place: ReplayStep.Place) -> MemoryIndex.Position {
        let directory = index.find(place.parent)
        if directory == 0 { return 0 }
        let name = place.name.withUnsafeBytes { index.lookup(directory, $0) }
        return name == 0 ? 0 : index[name: name].pointee.item
    }
}
