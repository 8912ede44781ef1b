internal import Catalog
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

extension Volume {
    /// What a new item is made of.
    struct Blueprint {
        var mode: UInt32
        var device: UInt64 = 0
        var target: [UInt8]?
    }

    /// Makes a directory, symlink, special file or empty regular file; counted as looked up.
    func make(
        _ parent: NodeNumber, _ name: UnsafeRawBufferPointer, _ blueprint: Blueprint,
        _ caller: Caller
    ) throws(Errno) -> Entry {
        try change(growing: true) { (state) throws(Errno) in
            let directory = try state.directory(parent)
            let (position, sequence, _) = try state.create(directory, name, blueprint, caller)
            let node = state.index[item: position].pointee.node
            state.countLookup(node, at: position)
            let entry = state.entry(of: node, at: position)
            return (entry, sequence)
        }
    }

    /// open(2) with O_CREAT of a name that the kernel does not know: makes the file and opens it.
    ///
    /// - Parameters:
    ///   - name: `nil` with O_TMPFILE.
    ///   - asksAgain: ERESTART is thrown if there are claims now.
    func create(
        _ parent: NodeNumber, _ name: UnsafeRawBufferPointer?, mode: UInt32, flags: Int32,
        _ caller: Caller, asksAgain: Bool = false
    ) throws(Errno) -> (Entry, Opened) {
        let writes = flags & O_ACCMODE != O_RDONLY
        let process = CallerProcess.process(of: caller.thread)
        meet(process)
        try admitGrowth()
        let created = try state.withLock {
            (state) throws(Errno) -> (
                node: NodeNumber, session: WriteSession?, item: ItemNumber,
                inherited: VolumeState.Inheritance?
            ) in
            try state.askAgain(asksAgain)
            let directory = try state.directory(parent)
            // An import has made it, and the kernel has not been told: it looks the name up again.
            if let name, flags & O_EXCL == 0, case let found = state.index.lookup(directory, name),
                found != 0
            {
                let position = state.index[name: found].pointee.item
                if writes { sendRound(caller, process, to: position, state) }
                throw Errno(ESTALE)
            }
            let position: MemoryIndex.Position
            var inherited: VolumeState.Inheritance?
            if let name {
                (position, _, inherited) = try state.create(
                    directory, name, Blueprint(mode: mode | S_IFREG), caller, process: process)
            } else {
                position = try state.createUnnamed(
                    directory, mode: mode, caller, process: process)
            }
            let item = state.number(position)
            if !writes {
                return (state.index[item: position].pointee.node, nil, item, inherited)
            }
            // It may have been sent round to what had the name.
            state.redirections[caller.thread] = nil
            let session = state.joinSession(position, author: caller.user)
            session.count(process, user: caller.user, thread: caller.thread)
            state.noteWriter(session, at: position, process)
            session.maker = process
            session.isLikelySmall =
                channel?.passesThrough != true || state.makesSmallFiles(process)
            return (session.node, session, item, inherited)
        }
        do throws(Errno) {
            if let session = created.session {
                try stage(session)
            } else {
                // Nothing is written that a close would make last together with the name.
                try log.flush(upTo: log.head)
            }
            // There is nothing to cut off, and no session for it.
            let opened = try grant(
                created.node, created.session, writes ? flags : flags & ~O_TRUNC, process)
            noteOpened(created.node, flags, caller)
            return try state.withLock { (state) throws(Errno) in
                let position = try state.position(created.node)
                state.countLookup(created.node, at: position)
                let entry = state.entry(of: created.node, at: position)
                return (entry, opened)
            }
        } catch {
            if let session = created.session { end(session, created.item, process) }
            if let name {
                undoCreation(of: created.item, parent, name, created.inherited, caller)
            }
            throw error
        }
    }
}

extension VolumeState {
    /// Puts a new item into a directory and records it.
    func create(
        _ directory: MemoryIndex.Position, _ name: UnsafeRawBufferPointer,
        _ blueprint: Volume.Blueprint, _ caller: Caller, process: Int32? = nil
    ) throws(Errno) -> (MemoryIndex.Position, ChangeSequence, Inheritance?) {
        try checkRoom(for: name, of: .new(target: blueprint.target), in: directory)
        if index.lookup(directory, name) != 0 { throw Errno(EEXIST) }
        let parent = index[item: directory]
        let isDirectory = blueprint.mode & S_IFMT == S_IFDIR
        if isDirectory, parent.pointee.links >= Limits.links { throw Errno(EMLINK) }
        let time = Self.now()
        let process = process ?? CallerProcess.process(of: caller.thread)
        let nameBytes = Array(name)
        // A document whose name vanished a moment ago lives on in the file that takes the name.
        let inherited =
            blueprint.mode & S_IFMT == S_IFREG
            ? inheritDocument(directory, nameBytes, process, time) : nil
        let position = insert(
            in: directory, blueprint, caller, links: isDirectory ? 2 : 1,
            document: inherited?.document, time)
        index.insertName(directory, name, item: position)
        if index[item: position].pointee.isRegular { noteMaker(position, process, time) }
        if isDirectory { parent.pointee.links += 1 }
        var effects: [Effect] = [
            .putName(parent: number(directory), name: nameBytes, item: number(position)),
            touch(directory, time),
        ]
        if let inherited { effects += inherited.effects }
        let sequence = record(
            .created, position, parent: directory, name: nameBytes, process: process, at: time,
            effects)
        if let unseen = inherited?.unseen { markConflict(unseen, at: position, by: process) }
        return (position, sequence, inherited)
    }

    /// A new item without any name yet.
    ///
    /// - Parameter document: the document that it is; `nil`: a new one.
    func insert(
        in directory: MemoryIndex.Position, _ blueprint: Volume.Blueprint, _ caller: Caller,
        links: UInt32, document: DocumentID? = nil, _ time: Timestamp
    ) -> MemoryIndex.Position {
        let parent = index[item: directory]
        let number = ItemNumber(rawValue: takeNumber())
        var mode = blueprint.mode
        var group = caller.group
        if parent.pointee.mode & S_ISGID != 0 {
            // As on ext4: the group comes from the directory, and so does the bit for directories.
            group = parent.pointee.group
            if mode & S_IFMT == S_IFDIR { mode |= S_ISGID }
        }
        return index.insert(
            ItemRow(
                number: number, mode: mode, user: caller.user, group: group, links: links,
                device: blueprint.device, size: Int64(blueprint.target?.count ?? 0),
                modified: time, changed: time, accessed: time,
                document: document ?? DocumentID(rawValue: number.rawValue),
                target: blueprint.target))
    }

    /// Remembers who has made a file.
    func noteMaker(_ position: MemoryIndex.Position, _ process: Int32, _ time: Timestamp) {
        makers.note((process, time), of: number(position), at: time)
    }

    /// What a file gets whose name another one had a moment ago.
    struct Inheritance {
        var document: DocumentID
        /// Its last holder.
        var former: Tunnelled
        var effects: [Effect] = []
        /// The items that were the document, with what they are now.
        var released: [(item: ItemNumber, document: UInt64)] = []
        /// The version that the process replaces without having seen it.
        var unseen: NodeNumber?
    }

    /// The document id that the name still stands for, taken from its last holder.
    ///
    /// - Parameter isNew: whether what gets the name was made to get it. A document that was there before
    ///   is what it is, unless the last holder made way as for a save: who moves files round does not save.
    func inheritDocument(
        _ directory: MemoryIndex.Position, _ name: [UInt8], _ process: Int32, _ time: Timestamp,
        isNew: Bool = true
    ) -> Inheritance? {
        // Another of its names may have come back before.
        guard
            let document = tunnel.claim(
                parent: number(directory), name: name, process: process, at: time),
            let former = tunnelled.removeValue(forKey: document), isNew || former.madeWay
        else { return nil }
        // The last holder may live on under another name (a backup): it becomes a new document. One that
        // is dead would take the document's versions and all ways to it along when it goes.
        var inheritance = Inheritance(document: document, former: former)
        if isUnseen(former.node, of: document, by: process) {
            inheritance.unseen = former.node
        }
        release(document, by: former.node.item, in: &inheritance)
        if let heir = former.heir { release(document, by: heir, in: &inheritance) }
        // Somebody else may have renamed another file over it.
        let holder = index.knownHolder(of: document)
        if holder != 0 { release(document, by: number(holder), in: &inheritance) }
        if former.replacesBackup {
            // It became the document of the backup that it was renamed over, and took its versions there.
            // That is undone.
            inheritance.effects += adoptVersions(of: former.node.item, document)
        }
        return inheritance
    }

    /// An item becomes the document whose name, which it gets, vanished a moment ago, where it may
    /// (``inheritDocument(_:_:_:_:isNew:)``).
    func inherit(
        _ position: MemoryIndex.Position, in directory: MemoryIndex.Position, _ name: [UInt8],
        _ process: Int32, _ time: Timestamp, isNew: Bool = true
    ) -> (effects: [Effect], unseen: NodeNumber?) {
        guard let inherited = inheritDocument(directory, name, process, time, isNew: isNew) else {
            return ([], nil)
        }
        return (inherited.effects + adopt(position, inherited.document), inherited.unseen)
    }

    /// Makes an item that still is the document a new one.
    private func release(
        _ document: DocumentID, by item: ItemNumber, in inheritance: inout Inheritance
    ) {
        let position = index.find(item)
        guard position != 0, index[item: position].pointee.document == document.rawValue else {
            return
        }
        let number = takeNumber()
        renumber(position, number)
        // Its words are kept by document.
        followTexts(.renamed, position)
        inheritance.effects.append(.putItem(index.row(position)))
        inheritance.released.append((item, number))
    }

    /// The item whose document's name went away.
    struct Tunnelled {
        var node: NodeNumber
        /// When its name went away.
        var time: Timestamp
        /// It was removed, or renamed as backups are called.
        var madeWay: Bool
        /// It was renamed to the name of a backup that was a document too, and became that.
        var replacesBackup: Bool
        /// What it was renamed over and became; that is this document until it goes.
        var heir: ItemNumber?
    }

    /// Remembers that a document's name went away, in case it comes back with another item.
    ///
    /// - Parameters:
    ///   - madeWay: whether it is removed, or gets the name of a backup.
    ///   - replacesBackup: whether it is about to be renamed over a document.
    func rememberDocument(
        _ position: MemoryIndex.Position, _ directory: MemoryIndex.Position, _ name: [UInt8],
        _ process: Int32, _ time: Timestamp, madeWay: Bool = true,
        replacesBackup: Bool = false
    ) {
        guard index[item: position].pointee.isRegular, !isTemporaryName(name),
            !hasMadeWay(position, process, time)
        else { return }
        let document = DocumentID(rawValue: index[item: position].pointee.document)
        tunnel.note(
            parent: number(directory), name: name, document: document, process: process, at: time)
        if tunnelled.count > 4 * IdentityTunnel.capacity {
            let awaited = tunnel.documents
            tunnelled = tunnelled.filter { awaited.contains($0.key) }
        }
        tunnelled[document] = Tunnelled(
            node: index[item: position].pointee.node, time: time, madeWay: madeWay,
            replacesBackup: replacesBackup)
    }

    /// Notes of a document whose name has gone that its file has become a backup which was one before.
    func noteBackupReplaced(_ document: DocumentID, by position: MemoryIndex.Position) {
        guard tunnelled[document]?.node.item == number(position) else { return }
        tunnelled[document]?.replacesBackup = true
    }

    /// The versions that an item wrote join a document's history.
    func adoptVersions(of item: ItemNumber, _ document: DocumentID) -> [Effect] {
        marks.adopt(item, document)
        adoptions += 1
        let position = index.find(item)
        if sealing > 0, position != 0 {
            adopted[item] = (document, index[item: position].pointee.ordinal)
        }
        return [.adoptVersions(item: item, document: document)]
    }

    /// Whether renaming an item away is the first half of a save (the second makes a new file of the
    /// old name): the new name is a backup's, or the item is not a file that the same process has just
    /// made, which may be a temporary one.
    func isBackup(
        _ position: MemoryIndex.Position, _ oldName: [UInt8], _ newName: [UInt8],
        _ process: Int32, _ time: Timestamp
    ) -> Bool {
        isBackupName(newName, of: oldName) || !isJustMade(position, process, time)
            // A backup in a folder of its own can have the document's name.
            || newName == oldName && !isTemporaryFile(position, process, time)
    }

    /// Whether an item may be a temporary file of the process, which has made it a moment ago, whatever its
    /// name is. What has become a document since, as by an earlier save, is none.
    func isTemporaryFile(
        _ position: MemoryIndex.Position, _ process: Int32, _ time: Timestamp
    ) -> Bool {
        index[item: position].pointee.document == index[item: position].pointee.number
            && isJustMade(position, process, time)
    }

    /// Whether the process itself has made the item a moment ago, as programs make temporary files.
    func isJustMade(_ position: MemoryIndex.Position, _ process: Int32, _ time: Timestamp) -> Bool {
        guard let maker = makers[number(position)] else { return false }
        return maker.process == process && time.secondsSince(maker.at) < IdentityTunnel.lifetime
    }

    /// What a name is given to.
    enum Named {
        /// An item that is still to be made, with the target that it has as a symlink.
        case new(target: [UInt8]?)
        /// One that keeps all others that it has.
        case linked
        /// One that has it instead of another.
        case renamed
    }

    /// Whether a name can be put into the directory at all.
    func checkRoom(
        for name: UnsafeRawBufferPointer, of named: Named, in directory: MemoryIndex.Position
    ) throws(Errno) {
        if name.count > Limits.name { throw Errno(ENAMETOOLONG) }
        if name.isEmpty { throw Errno(ENOENT) }
        // A directory that was removed while somebody stands in it takes nothing in.
        if index[item: directory].pointee.links == 0 { throw Errno(ENOENT) }
        let hasRoom =
            switch named {
            case .new(let target): index.hasRoom(name: name.count, target: target?.count)
            case .linked: index.hasRoom(furtherName: name.count)
            case .renamed: index.canHold(name: name.count)
            }
        if !hasRoom { throw Errno(ENOSPC) }
    }
}

/// The limits of a container, as ext4 has them.
enum Limits {
    /// Bytes of a name.
    static let name = MemoryIndex.longestName
    /// Names of an item, and 2 + subdirectories of a directory.
    static let links: UInt32 = 65_000
    /// Bytes of a symlink's target.
    static let target = MemoryIndex.longestTarget
    /// Bytes of an extended attribute's value.
    static let attribute = 65_536
    /// Bytes of an item's attributes in all.
    static let attributes = 1 << 20
}
