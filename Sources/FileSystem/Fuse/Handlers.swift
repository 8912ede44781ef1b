internal import CFuseShim
internal import Content
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// The handlers of names, attributes and listings that do more than pass on.
extension FuseSession {
    func lookup(_ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer)
        throws(Errno)
    {
        if parent.rawValue & VirtualTree.bit != 0 {
            try lookupVirtual(request, parent.rawValue, Array(name))
            return
        }
        if VirtualTree.isTop(name, in: parent.rawValue) {
            request.answer(try virtual.top())
            return
        }
        if volume.isPictured(parent, name) { return try lookUp(request, parent, name) }
        let bytes = Array(name)
        volume.whenPictured(parent, bytes) { [self] in
            let kept = Kept(bytes)
            defer { withExtendedLifetime(kept) {} }
            do throws(Errno) { try lookUp(request, parent, kept.bytes) } catch {
                request.fail(error)
            }
        }
    }

    private func lookUp(_ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer)
        throws(Errno)
    {
        switch try volume.lookup(parent, name, request.caller, waited: false) {
        case .done(let entry):
            // The folder of an owner may get the name: that it is free the kernel must not keep.
            if entry.node == 0, granted != nil, parent.rawValue == ItemNumber.root.rawValue,
                GrantedTree.owner(name) != nil
            {
                throw Errno(ENOENT)
            }
            answer(request, keepable(entry, parent, name), in: parent)
        case .wait(let item):
            let kept = Array(name)
            volume.afterClosing(item) { [self] in
                do throws(Errno) {
                    let answer = try again(parent, kept, request.caller)
                    if case .done(let entry) = answer { request.answer(entry) }
                } catch {
                    request.fail(error)
                }
            }
        }
    }

    /// Answers with what is found at a name; who comes again for the sake of a moved folder waits, parked.
    private func answer(_ request: Request, _ entry: Entry, in parent: NodeNumber) {
        guard entry.status.st_mode & S_IFMT == S_IFDIR else { return request.answer(entry) }
        let (moved, thread) = (volume.movedFolders, request.caller.thread)
        let (folder, directory) = (NodeNumber(rawValue: entry.node).item, parent.item)
        // Not kept: a step is about the name.
        let isMoved = entry.timeout == 0 && !isReplay(request)
        @Sendable func tell() {
            if isMoved { moved.tell(thread, of: folder, in: directory) }
            request.answer(entry)
        }
        switch moved.comesAgain(thread, for: folder, in: directory) {
        case .fromAbove: moved.whenFree(volume.scheduler) { request.answer(entry) }
        case .directly: moved.whenFree(volume.scheduler, locked: directory, tell)
        case nil: tell()
        }
    }

    /// What is found at a name, as the kernel may keep it: not while a step is about that name, or it would be
    /// taken for what the step is about.
    private func keepable(
        _ entry: Entry, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer
    ) -> Entry {
        guard volume.replayer?.isExpected(parent, name) == true else { return entry }
        var entry = entry
        entry.timeout = 0
        return entry
    }

    /// A picture may be waited for, parked, and so may what other containers answer to a saved query.
    private func lookupVirtual(_ request: Request, _ parent: UInt64, _ name: [UInt8])
        throws(Errno)
    {
        if try lookupGranted(request, parent, name) { return }
        if volume.grantedResults != nil, let query = virtual.savedQuery(parent, name) {
            return volume.whenAsked(query) { [self] in answer(request, parent, name) }
        }
        guard volume.pictures != nil,
            let mirrored = try VirtualTree.mirrored(virtual.node(parent))
        else { return request.answer(try virtual.lookup(parent, name)) }
        lookUpPicture(
            request, parent, name, mirrored,
            until: MonotonicClock.after(milliseconds: Volume.namePatience))
    }

    /// A change of the document's name, a close of it, and then the picture are waited for, parked.
    ///
    /// - Parameter waited: for a close.
    private func lookUpPicture(
        _ request: Request, _ parent: UInt64, _ name: [UInt8],
        _ mirrored: (directory: ItemNumber, size: PictureSize), until end: UInt64,
        waited: Bool = false
    ) {
        let (directory, size) = mirrored
        let names = [name] + (VirtualTree.document(ofPicture: name).map { [$0] } ?? [])
        volume.whenCertain(names, in: directory) { [self] in
            guard let pictures = volume.pictures,
                let subject = virtual.pictureSubject(directory, name)
            else { return answer(request, parent, name) }
            // As for who opens the document.
            if !waited, volume.isClosing(subject.item, for: request.caller) {
                return volume.afterClosing(subject.item) { [self] in
                    lookUpPicture(request, parent, name, mirrored, until: end, waited: true)
                }
            }
            pictures.whenDrawn(subject, size) { [self] in
                // Meanwhile it may have changed again.
                guard MonotonicClock.now < end, volume.isUncertain(names, in: directory) else {
                    return answer(request, parent, name)
                }
                lookUpPicture(request, parent, name, mirrored, until: end, waited: waited)
            }
        }
    }

    /// What a virtual name leads to now.
    private func answer(_ request: Request, _ parent: UInt64, _ name: [UInt8]) {
        do throws(Errno) {
            request.answer(try virtual.lookup(parent, name))
        } catch {
            request.fail(error)
        }
    }

    /// A picture may be waited for, parked.
    func getAttribute(_ request: Request, _ node: NodeNumber, _ name: [UInt8], _ room: Int)
        throws(Errno)
    {
        guard name == VolumePictures.attribute, let pictures = volume.pictures,
            let subject = volume.state.withLock({ $0.pictureSubject(of: node) })
        else {
            return request.answer(
                attribute: try volume.attribute(node, name, request.caller), room: room)
        }
        pictures.whenDrawn(subject, .medium) { [volume] in
            do throws(Errno) {
                request.answer(
                    attribute: try volume.attribute(node, name, request.caller), room: room)
            } catch {
                request.fail(error)
            }
        }
    }

    private func again(_ parent: NodeNumber, _ name: [UInt8], _ caller: Caller) throws(Errno)
        -> Answer<Entry>
    {
        let kept = Kept(name)
        defer { withExtendedLifetime(kept) {} }
        return try volume.lookup(parent, kept.bytes, caller, waited: true)
    }

    /// The virtual folder is not to be replaced.
    func guardName(
        _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer, _ error: Int32 = EEXIST
    ) throws(Errno) {
        if parent & VirtualTree.bit != 0 { throw Errno(EROFS) }
        if VirtualTree.isTop(name, in: parent) { throw Errno(error) }
    }

    func forget(_ number: UInt64, _ count: UInt64) {
        if number & VirtualTree.bit != 0 {
            virtual.forget(number, count)
        } else if number != ItemNumber.root.rawValue {
            volume.forget(NodeNumber(rawValue: number), count)
        }
    }

    func make(
        _ request: Request, _ parent: fuse_ino_t, _ name: UnsafeRawBufferPointer,
        _ blueprint: Volume.Blueprint
    ) throws(Errno) {
        if isReplay(request) { return try makeReplayed(request, parent, name) }
        try guardName(parent, name)
        let parent = NodeNumber(rawValue: parent)
        try naming(request, (parent, name, .write)) { [volume] (name, asksAgain) throws(Errno) in
            let entry = try volume.changing([(parent, name)], asksAgain: asksAgain) {
                () throws(Errno) in
                try volume.make(parent, name, blueprint, request.caller)
            }
            volume.refresh([], changedIn: [parent], by: request.caller) { request.answer(entry) }
        }
    }

    func unlink(_ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer)
        throws(Errno)
    {
        try naming(request, (parent, name, .writeDeleting)) {
            [volume] (name, asksAgain) throws(Errno) in
            let nodes = try volume.changing([(parent, name)], asksAgain: asksAgain) {
                () throws(Errno) in
                try volume.unlink(parent, name, request.caller)
            }
            volume.refresh(nodes, changedIn: [parent], by: request.caller) { request.succeed() }
        }
    }

    func removeDirectory(_ request: Request, _ parent: NodeNumber, _ name: UnsafeRawBufferPointer)
        throws(Errno)
    {
        try naming(request, (parent, name, .writeDeleting)) {
            [volume] (name, asksAgain) throws(Errno) in
            try volume.changing([(parent, name)], asksAgain: asksAgain) {
                () throws(Errno) in
                try volume.removeDirectory(parent, name, request.caller)
            }
            volume.refresh([], changedIn: [parent], by: request.caller) { request.succeed() }
        }
    }

    func link(
        _ request: Request, _ node: NodeNumber, _ parent: NodeNumber,
        _ name: UnsafeRawBufferPointer
    ) throws(Errno) {
        try naming(request, (parent, name, .write)) { [volume] (name, asksAgain) throws(Errno) in
            let (entry, others) = try volume.changing([(parent, name)], asksAgain: asksAgain) {
                () throws(Errno) in
                try volume.link(node, parent, name, request.caller)
            }
            volume.refresh(others, changedIn: [parent], by: request.caller) {
                request.answer(entry)
            }
        }
    }

    func rename(
        _ request: Request, _ from: NodeNumber, _ name: UnsafeRawBufferPointer, _ to: NodeNumber,
        _ newName: UnsafeRawBufferPointer, _ flags: UInt32, waited: Bool = false
    ) throws(Errno) {
        if !isClaimed {
            do throws(Errno) {
                return try renameNow(
                    request, from, name, to, newName, flags, waited: waited, asksAgain: true)
            } catch {
                guard error.code == ERESTART else { throw error }
            }
        }
        volume.settleNames(in: [from, to])
        let (kept, newKept) = (Kept(Array(name)), Kept(Array(newName)))
        let operation = volume.naming([
            (from, Array(name), .writeMoving), (to, Array(newName), .writeReplacing),
        ])
        whenFree(request, operation) { [self] () throws(Errno) in
            defer { withExtendedLifetime((kept, newKept)) {} }
            try renameNow(request, from, kept.bytes, to, newKept.bytes, flags, waited: waited)
        }
    }

    private func renameNow(
        _ request: Request, _ from: NodeNumber, _ name: UnsafeRawBufferPointer, _ to: NodeNumber,
        _ newName: UnsafeRawBufferPointer, _ flags: UInt32, waited: Bool, asksAgain: Bool = false
    ) throws(Errno) {
        let answer = try volume.changing([(from, name), (to, newName)], asksAgain: asksAgain) {
            () throws(Errno) in
            try volume.rename(
                from, name, to, newName, flags: flags, request.caller, waited: waited)
        }
        switch answer {
        case .done(let nodes):
            volume.refresh(nodes, changedIn: [from, to], by: request.caller) { request.succeed() }
        case .wait(let item):
            let (kept, newKept) = (Kept(Array(name)), Kept(Array(newName)))
            // It may come to nothing.
            volume.answerChange(in: [from, to])
            volume.afterClosing(item) { [self] in
                defer { withExtendedLifetime((kept, newKept)) {} }
                // Meanwhile somebody may have claimed what is to be replaced.
                do throws(Errno) {
                    try rename(request, from, kept.bytes, to, newKept.bytes, flags, waited: true)
                } catch {
                    request.fail(error)
                }
            }
        }
    }

    /// Puts as many entries as fit into a listing's buffer.
    ///
    /// - Parameters:
    ///   - number: the directory; 0: only `more`.
    ///   - more: names behind those of the directory.
    func list(
        _ request: Request, _ number: fuse_ino_t, _ size: Int, _ offset: UInt64, plus: Bool,
        more: [ListedName] = []
    ) throws(Errno) {
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
        defer { buffer.deallocate() }
        var used = 0
        var isFull = false
        func add(_ name: UnsafePointer<CChar>, _ next: UInt64, _ entry: Entry) -> Bool {
            let needed: Int
            if plus {
                var parameter = fuse_entry_param(entry)
                needed = fuse_add_direntry_plus(
                    request.pointer, buffer + used, size - used, name, &parameter, off_t(next))
            } else {
                var status = entry.status
                needed = fuse_add_direntry(
                    request.pointer, buffer + used, size - used, name, &status, off_t(next))
            }
            isFull = needed > size - used
            if isFull { return false }
            used += needed
            return true
        }
        let hasOwn = number != 0 && offset < Self.firstMore
        if hasOwn, number & VirtualTree.bit != 0 {
            try virtual.list(number, from: offset, counted: plus) { name, next, entry in
                add(name.cPath, next, entry)
            }
        } else if hasOwn {
            try listReal(request, NodeNumber(rawValue: number), offset, plus, add)
        }
        let start = offset < Self.firstMore ? 0 : Int(offset - Self.firstMore)
        for (index, listed) in more.enumerated().dropFirst(start) where !isFull {
            var entry = Entry(node: 0, status: stat(), timeout: 0)
            entry.status.st_mode = listed.mode
            entry.status.st_ino = UInt(GrantedTree.unknown)
            _ = add(listed.name.cPath, Self.firstMore + UInt64(index) + 1, entry)
        }
        fuse_reply_buf(request.pointer, buffer, used)
    }

    /// Where the cursors of more names begin: above all cursors of a directory.
    private static let firstMore = UInt64(Int64.max) - 1 << 20

    /// Cursors 1 and 2 stand on `.` and `..`; those of names are larger by ``firstCursor``.
    private static let firstCursor: UInt64 = 3

    private func listReal(
        _ request: Request, _ directory: NodeNumber, _ offset: UInt64, _ plus: Bool,
        _ add: (UnsafePointer<CChar>, UInt64, Entry) -> Bool
    ) throws(Errno) {
        for (cursor, text) in [(UInt64(1), "."), (2, "..")] where offset < cursor {
            let item = cursor == 1 ? directory.item : try volume.above(directory)
            var status = stat()
            status.st_ino = UInt(item.rawValue)
            status.st_mode = S_IFDIR
            // Node 0: the kernel does not count these two as looked up.
            if !add(text, cursor, Entry(node: 0, status: status, timeout: 0)) { return }
        }
        let from = offset <= Self.firstCursor ? 0 : offset - Self.firstCursor
        try volume.list(directory, from: from, request.caller, counted: plus) {
            name, cursor, entry in
            guard let base = name.baseAddress else { return false }
            return add(
                base.assumingMemoryBound(to: CChar.self), cursor + Self.firstCursor,
                plus ? keepable(entry, directory, name) : entry)
        }
    }
}

/// Bytes that stay in place as long as this object, for a request that goes on later.
final class Kept: @unchecked Sendable {
    // Unchecked because the memory is never written after it was made.
    let bytes: UnsafeRawBufferPointer

    init(_ source: [UInt8]) {
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: source.count + 1, alignment: 1)
        memory.copyBytes(from: source)
        memory[source.count] = 0
        bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<source.count])
    }

    deinit { bytes.deallocate() }
}
