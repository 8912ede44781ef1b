internal import CFuseShim
internal import Catalog
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// One state of one picture as the kernel knows it: its bytes never change.
struct PictureNode: Hashable, Sendable {
    var node: NodeNumber
    var size: PictureSize
    var type: PictureType
    var isPlaceholder: Bool
}

/// `.shapeedit/thumbnails/<size>/<path>.png`.
extension VirtualTree {
    static let pictureEnd = Array(".png".utf8)

    /// The directory that a folder of pictures mirrors, and their size; nil for all other nodes.
    static func mirrored(_ node: VirtualNode) -> (directory: ItemNumber, size: PictureSize)? {
        switch node {
        case .thumbnailsOf(let size): return (ItemNumber.root, size)
        case .thumbnailsBelow(let size, let item): return (item, size)
        default: return nil
        }
    }

    /// The document whose picture has this name; nil if it is no picture's.
    static func document(ofPicture name: [UInt8]) -> [UInt8]? {
        guard name.count > pictureEnd.count, name.suffix(4).elementsEqual(pictureEnd) else {
            return nil
        }
        return Array(name.dropLast(4))
    }

    /// What a name below a mirrored directory is: the directory of that name, or the picture of the
    /// document whose name it is but for the end; and whether the kernel may keep that.
    func pictured(_ directory: ItemNumber, _ name: [UInt8], _ size: PictureSize) throws(Errno)
        -> (VirtualNode, lasts: Bool)
    {
        let (folder, subject, sights) = try volume.read {
            (state) throws(Errno) -> (VirtualNode?, PictureSubject?, [ChangingNames.Sight]) in
            guard state.index.find(directory) != 0 else { throw Errno(ENOENT) }
            let (same, sight) = state.seen(ReplayStep.Place(parent: directory, name: name))
            if same != 0, state.index[item: same].pointee.isDirectory {
                // Nothing stands for a folder.
                if sight == .uncertain { throw Errno(EAGAIN) }
                state.index[item: same].pointee.flags.insert(.isPictured)
                return (.thumbnailsBelow(size, state.number(same)), nil, [sight])
            }
            guard let document = Self.document(ofPicture: name) else { throw Errno(ENOENT) }
            let (position, other) = state.seen(
                ReplayStep.Place(parent: directory, name: document))
            // A hard link's name counts, not the file's first.
            guard let subject = state.pictureSubject(position, named: document) else {
                throw Errno(ENOENT)
            }
            state.index[item: position].pointee.flags.insert(.isPictured)
            return (nil, subject, [sight, other])
        }
        let lasts = sights.allSatisfy { $0 == .present }
        if let folder { return (folder, lasts) }
        guard let subject else { throw Errno(ENOENT) }
        return (try picture(of: subject, size, isCertain: !sights.contains(.uncertain)), lasts)
    }

    /// The picture of a version, or the placeholder until there is one.
    ///
    /// - Parameter isCertain: false if it is open whether that version is seen; then it is the
    ///   placeholder.
    func picture(
        of subject: PictureSubject, _ size: PictureSize, isCertain: Bool = true
    ) throws(Errno) -> VirtualNode {
        guard let pictures = volume.pictures else { throw Errno(ENOENT) }
        let isKept = isCertain && pictures.kept(subject, size)?.places[size] != nil
        return .picture(
            PictureNode(
                node: subject.node, size: size, type: subject.type, isPlaceholder: !isKept))
    }

    /// The document whose picture has a name below a mirrored directory; nil if there is none, or
    /// it is open which of two it is.
    func pictureSubject(_ directory: ItemNumber, _ name: [UInt8]) -> PictureSubject? {
        guard let document = Self.document(ofPicture: name) else { return nil }
        return volume.state.withLock { state in
            let (position, sight) = state.seen(
                ReplayStep.Place(parent: directory, name: document))
            return sight == .uncertain ? nil : state.pictureSubject(position, named: document)
        }
    }

    /// A name below a mirrored directory.
    private struct PicturedName {
        var text: String
        var cursor: UInt64
        /// What it leads to: a folder, or the picture of a version.
        var target: Target
        /// Whether the kernel may keep it.
        var lasts: Bool

        enum Target {
            case folder(VirtualNode)
            case picture(PictureSubject)
        }
    }

    /// Lists a folder of pictures from a cursor on. Cursors stand on names, as in the directory that it
    /// mirrors: they stay good while others come and go, and what is before them costs nothing.
    func listPictures(
        _ folder: UInt64, of directory: ItemNumber, _ size: PictureSize, from offset: UInt64,
        counted: Bool, _ body: (String, UInt64, Entry) -> Bool
    ) throws(Errno) {
        for (cursor, name) in [(UInt64(1), "."), (2, "..")] where offset < cursor {
            var itself = Entry(node: 0, status: stat(), timeout: 0)
            itself.status.st_mode = S_IFDIR
            itself.status.st_ino = UInt(folder)
            if !body(name, cursor, itself) { return }
        }
        var cursor = offset <= Self.firstCursor ? 0 : offset - Self.firstCursor
        while true {
            let (names, last) = try picturedNames(directory, size, from: cursor)
            for name in names {
                var found: Entry
                do throws(Errno) {
                    found = try entry(listed(name, size), counted: counted)
                } catch {
                    // Gone since it was found, or its picture.
                    if error.code == ENOENT || error.code == ESTALE { continue }
                    throw error
                }
                if !name.lasts { found.timeout = 0 }
                if !body(name.text, name.cursor + Self.firstCursor, found) {
                    if counted { forget(found.node, 1) }
                    return
                }
            }
            guard let last else { return }
            cursor = last
        }
    }

    private func listed(_ name: PicturedName, _ size: PictureSize) -> VirtualNode {
        switch name.target {
        case .folder(let node): return node
        case .picture(let subject):
            // Listing is not looking: nothing is drawn for it.
            let file = volume.pictures?.shelf.head(subject.node, subject.type)
            return .picture(
                PictureNode(
                    node: subject.node, size: size, type: subject.type,
                    isPlaceholder: file?.places[size] == nil))
        }
    }

    /// Some names below a mirrored directory, behind a cursor, and the cursor on the last one that was
    /// looked at; nil if there are no more.
    private func picturedNames(
        _ directory: ItemNumber, _ size: PictureSize, from cursor: UInt64
    ) throws(Errno) -> (names: [PicturedName], last: UInt64?) {
        try volume.read { (state) throws(Errno) -> (names: [PicturedName], last: UInt64?) in
            let position = state.index.find(directory)
            guard position != 0 else { throw Errno(ENOENT) }
            // The kernel is not to keep these.
            let unsettled = state.changingNames.names(in: directory).flatMap { name in
                [String(path: name), String(path: name) + ".png"]
            }
            var found: [PicturedName] = []
            var last: UInt64 = 0
            var name = state.index.child(of: position, after: cursor)
            while name != 0, found.count < Self.namesAtOnce {
                let item = state.index[name: name].pointee.item
                let bytes = Array(state.index.nameBytes(name))
                last = state.index.cursor(name)
                state.index[item: item].pointee.flags.insert(.isPictured)
                func add(_ text: String, _ target: PicturedName.Target) {
                    found.append(
                        PicturedName(
                            text: text, cursor: last, target: target,
                            lasts: !unsettled.contains(text)))
                }
                if state.index[item: item].pointee.isDirectory {
                    add(String(path: bytes), .folder(.thumbnailsBelow(size, state.number(item))))
                } else if bytes.count <= 251,
                    let subject = state.pictureSubject(item, named: bytes),
                    // The folder of a directory of that name is in its place.
                    !state.isDirectory(
                        ReplayStep.Place(parent: directory, name: bytes + Self.pictureEnd))
                {
                    add(String(path: bytes) + ".png", .picture(subject))
                }
                name = state.index[name: name].pointee.next
            }
            return (found, name == 0 ? nil : last)
        }
    }

    /// The bytes of a picture, or of what stands for it.
    func bytes(of picture: PictureNode) throws(Errno) -> [UInt8] {
        if picture.isPlaceholder { return Placeholder.bytes(picture.type, picture.size) }
        guard let shelf = volume.pictures?.shelf,
            let bytes = shelf.bytes(picture.node, picture.type, picture.size)
                ?? openPicture(picture)
        else { throw Errno(ESTALE) }
        return bytes
    }

    /// Pictures of a version that goes, and that the kernel knows, stay as long as it knows them.
    func keepOpenPictures(of node: NodeNumber) {
        guard let shelf = volume.pictures?.shelf, let type = shelf.type(node) else { return }
        for size in PictureSize.allCases {
            let picture = PictureNode(node: node, size: size, type: type, isPlaceholder: false)
            guard known(.picture(picture)) != nil, let bytes = shelf.bytes(node, type, size) else {
                continue
            }
            keepOpen(picture, bytes)
        }
    }

    /// Type, size, owner and times of a picture's file: those of the version it shows; and whether
    /// the kernel may keep them and the name until it is told otherwise.
    func describe(_ picture: PictureNode, _ status: inout stat) throws(Errno)
        -> (modified: Timestamp, lasts: Bool)
    {
        let size: Int
        if picture.isPlaceholder {
            size = Placeholder.bytes(picture.type, picture.size).count
        } else {
            let place = volume.pictures?.shelf.head(picture.node, picture.type)?
                .places[picture.size]
            guard let count = place?.count ?? openPicture(picture)?.count else {
                throw Errno(ESTALE)
            }
            size = count
        }
        // Who has the picture of a document open that is gone still has its file.
        var (modified, lasts) = (Timestamp(rawValue: 0), false)
        (status.st_mode, status.st_nlink) = (S_IFREG | 0o400, 0)
        volume.state.withLock { state in
            let position = state.index.find(picture.node.item)
            guard position != 0 else { return }
            let record = state.index[item: position]
            record.pointee.flags.insert(.isPictured)
            // During a session the next version may come at any moment.
            let isCurrent = record.pointee.node == picture.node
            lasts =
                isCurrent && !picture.isPlaceholder && record.pointee.firstName != 0
                && !record.pointee.flags.contains(.inSession)
            status.st_mode = S_IFREG | record.pointee.mode & 0o444
            status.st_nlink = record.pointee.firstName == 0 ? 0 : 1
            (status.st_uid, status.st_gid) = (record.pointee.user, record.pointee.group)
            let old = isCurrent ? nil : state.oldNode(picture.node)
            modified = Timestamp(rawValue: old?.modified ?? record.pointee.modified)
        }
        status.st_size = off_t(size)
        status.st_blocks = blkcnt_t((size + 511) / 512)
        return (modified, lasts)
    }

    /// The nodes that the kernel knows of the placeholders of a version in whose place there are
    /// pictures now: the directory's, the file's, the name; and the path from the root.
    func placeholders(
        of order: PictureOrder
    ) -> [(parent: UInt64, node: UInt64, name: [UInt8], path: [UInt8])] {
        let place = volume.state.withLock { state -> (ItemNumber, [UInt8], [UInt8])? in
            let position = state.index.find(order.item)
            guard position != 0 else { return nil }
            let name = state.index[item: position].pointee.firstName
            guard name != 0 else { return nil }
            return (
                state.number(state.index[name: name].pointee.parent),
                Array(state.index.nameBytes(name)), state.index.path(of: position) ?? []
            )
        }
        // The largest follows the others, and has its own announcement.
        let head = volume.pictures?.shelf.head(order.node, order.type)
        guard let (parent, name, path) = place, let head else { return [] }
        return head.places.keys.sorted().compactMap { size in
            let picture = PictureNode(
                node: order.node, size: size, type: order.type, isPlaceholder: true)
            guard let known = known(placeholder: picture, of: name, in: parent) else { return nil }
            let folder = Array(".shapeedit/thumbnails/\(size.pixels)/".utf8)
            return (known.parent, known.node, known.name, folder + path + Self.pictureEnd)
        }
    }

    /// By what the kernel knows the placeholder of a document with this name; `nil` if it does not.
    func known(
        placeholder picture: PictureNode, of name: [UInt8], in directory: ItemNumber
    ) -> (parent: UInt64, node: UInt64, name: [UInt8])? {
        guard let node = known(.picture(picture)),
            let parent = known(.thumbnails(of: directory, picture.size))
        else { return nil }
        return (parent, node, name + Self.pictureEnd)
    }
}

extension VolumeState {
    fileprivate func isDirectory(_ place: ReplayStep.Place) -> Bool {
        let position = item(at: place)
        return position != 0 && index[item: position].pointee.isDirectory
    }
}
