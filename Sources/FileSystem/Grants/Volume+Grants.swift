internal import Catalog
internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Grants through a document's attributes: `user.shapeedit.grant.<application>`.
extension Volume {
    /// The application that an attribute's name is about; `nil` for another attribute.
    static func grantedApplication(_ key: String) -> Substring? {
        key.hasPrefix("grant.") ? key.dropFirst(6) : nil
    }

    /// The terms of the grant that the application has for the document; ENODATA if it has none.
    func grantTerms(_ node: NodeNumber, for application: Substring) throws(Errno) -> String {
        try read { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            let document = DocumentID(rawValue: record.pointee.document)
            guard record.pointee.isRegular,
                let terms = state.grants.terms(
                    of: document, for: application, at: VolumeState.now())
            else { throw Errno(ENODATA) }
            return terms.text
        }
    }

    /// What `granted.<document id>.<application>` says, on any item: the terms of that grant. This is
    /// how it is seen whether an open document is still granted: by then its item may be another's.
    ///
    /// - Returns: `nil` for another attribute; ENODATA if nothing is granted.
    func grantedAttribute(_ key: String) throws(Errno) -> String? {
        guard key.hasPrefix("granted.") else { return nil }
        let parts = key.dropFirst(8).split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let document = DocumentID(parts[0]),
            let terms = state.withLock({
                $0.grants.terms(of: document, for: parts[1], at: VolumeState.now())
            })
        else { throw Errno(ENODATA) }
        return terms.text
    }

    /// Grants the document to an application, in place of what was granted to it before.
    ///
    /// Only the owner of the container or root may. EISDIR for a folder, EPERM for other things that
    /// are no documents, EINVAL for a name that no container can have, for this container's own, and
    /// for other terms than ``GrantTerms`` has.
    func setGrant(
        _ node: NodeNumber, for application: Substring, _ text: String, _ caller: Caller
    ) throws(Errno) {
        guard caller.ownsMount else { throw Errno(EPERM) }
        guard ContainerName.isValid(application), application != container.name,
            let terms = GrantTerms(text)
        else { throw Errno(EINVAL) }
        try change { (state) throws(Errno) in
            let record = state.index[item: try state.position(node)]
            if record.pointee.isDirectory { throw Errno(EISDIR) }
            guard record.pointee.isRegular else { throw Errno(EPERM) }
            let now = VolumeState.now()
            let document = DocumentID(rawValue: record.pointee.document)
            let row = state.grants.granting(document, to: String(application), terms, at: now)
            let expired = state.grants.dropExpired(at: now)
            state.grants.insert(row)
            state.bells.ring(for: row.application)
            let mutation = Mutation(
                time: now, kind: .granted, item: node.item,
                process: CallerProcess.process(of: caller.thread),
                effects: expired + [.putGrant(row)])
            return ((), state.log.append(mutation))
        }
        settleGrants()
    }

    /// Takes the grant of an application away; ENODATA if it has none. Only the owner of the container
    /// or root may.
    func revokeGrant(
        _ node: NodeNumber, from application: Substring, _ caller: Caller
    ) throws(Errno) {
        guard caller.ownsMount else { throw Errno(EPERM) }
        let wasThere = try change { (state) throws(Errno) -> (Bool, ChangeSequence) in
            let record = state.index[item: try state.position(node)]
            let document = DocumentID(rawValue: record.pointee.document)
            let now = VolumeState.now()
            // Those of others may go with it, or without it.
            var effects = state.grants.dropExpired(at: now)
            let isThere = state.grants.remove(document, String(application))
            if isThere {
                effects.append(.removeGrant(document, application: String(application)))
            }
            guard !effects.isEmpty else { throw Errno(ENODATA) }
            state.bells.ring(for: String(application))
            let mutation = Mutation(
                time: now, kind: .granted, item: node.item,
                process: CallerProcess.process(of: caller.thread), effects: effects)
            return (isThere, state.log.append(mutation))
        }
        settleGrants()
        if !wasThere { throw Errno(ENODATA) }
    }

    /// Mounts of applications read the catalog while this container is not mounted.
    private func settleGrants() { try? log.drain() }

    /// All documents that are granted, with what they are called now.
    func grantedDocuments() -> [(row: GrantRow, path: [UInt8])] {
        state.withLock { state in
            state.grants.live(at: VolumeState.now()).compactMap { row in
                let position = state.index.holder(of: row.document)
                guard position != 0, let path = state.index.path(of: position) else { return nil }
                return (row, path)
            }
        }
    }

    /// The documents that are granted to an application, each with a name that no other of them has.
    func grantedDocuments(to application: String) -> [(name: String, row: GrantRow)] {
        grantedList(to: application).documents
    }

    /// The same with the ``grantsStamp(for:)`` of just that moment.
    func grantedList(
        to application: String
    ) -> (documents: [(name: String, row: GrantRow)], stamp: String) {
        let (list, stamp) = state.withLock { state -> ([(String, GrantRow)], String) in
            let list = state.granted(to: application, at: VolumeState.now())
            let named = list.map { row, name in
                (String(path: Array(state.index.nameBytes(name))), row)
            }
            return (named, state.stamp(of: list))
        }
        return (VirtualTree.distinct(list).map { (name: $0.0, row: $0.1) }, stamp)
    }

    /// A text that is another as soon as ``grantedDocuments(to:)`` is, for as long as this process lives,
    /// and in another one anyway. To tell it takes far less than the list.
    func grantsStamp(for application: String) -> String {
        state.withLock { state in
            let now = VolumeState.now()
            if let known = state.grantStamps[application], known.holds(at: now, state.log.head) {
                return known.text
            }
            let list = state.granted(to: application, at: now)
            let stamp = GrantStamp(
                text: state.stamp(of: list), change: state.log.head,
                until: list.compactMap { $0.row.terms.until }.min())
            if state.grantStamps.count >= GrantStamp.most { state.grantStamps = [:] }
            state.grantStamps[application] = stamp
            return stamp.text
        }
    }

    /// What a document that was granted leads to.
    ///
    /// - Parameters:
    ///   - shared: as its writers see it, for one who may write; else the current version, whoever
    ///     asks.
    ///   - waited: whether the caller has waited for a closing session already.
    /// - Returns: the entry, counted as a lookup, or the item whose session is closing. EACCES if it is
    ///   not granted, ENOENT if it has no name any more.
    func lookupGranted(
        _ document: DocumentID, for application: String, shared: Bool, _ caller: Caller,
        waited: Bool
    ) throws(Errno) -> Answer<Entry> {
        let answer = try read { (state) throws(Errno) -> Answer<(NodeNumber, Entry)> in
            let position = try state.position(of: document, for: application, writing: shared)
            state.grantedNames.note(
                GrantedItemNames.Name(document: document, application: application),
                of: state.number(position))
            if shared {
                // The document may be another item than the one that the thread was sent round to.
                follow(state, caller, to: position, by: .granted(document), waited: waited)
                state.lent.insert(state.index[item: position].pointee.number)
                return state.entry(position, caller, waited: waited)
            }
            if !waited, let item = state.closing(position) { return .wait(item) }
            let node = state.index[item: position].pointee.node
            state.countLookup(node, at: position)
            return .done((node, state.entry(of: node, at: position)))
        }
        switch answer {
        case .wait(let item): return .wait(item)
        case .done((let node, var entry)):
            // What is staged has its size in its file: ask that without holding the lock.
            if entry.attributeTimeout == Entry.brief || entry.attributeTimeout == Entry.never {
                entry = try attributes(node)
            }
            // The document may come under another item, and the grant may go.
            entry.timeout = 0
            return .done(entry)
        }
    }

    /// The current version of a document that was granted, of which there is to be a picture.
    ///
    /// - Parameter waited: whether the caller has waited for a closing session already.
    /// - Returns: the version, or the item whose session is closing. EACCES if the document is not
    ///   granted, ENOENT if it has no name any more.
    func grantedSubject(
        _ document: DocumentID, for application: String, waited: Bool
    ) throws(Errno) -> Answer<PictureSubject> {
        try read { (state) throws(Errno) -> Answer<PictureSubject> in
            let position = try state.position(of: document, for: application, writing: false)
            if !waited, let item = state.closing(position) { return .wait(item) }
            guard let subject = state.pictureSubject(position) else { throw Errno(ENOENT) }
            return .done(subject)
        }
    }
}

/// What ``Volume/grantsStamp(for:)`` said: it is asked for at each lookup, and mostly nothing has changed.
struct GrantStamp: Sendable {
    /// Applications that are remembered.
    fileprivate static let most = 64

    fileprivate let text: String
    /// The last change when it was made.
    fileprivate let change: ChangeSequence
    /// When the first of the grants ends.
    fileprivate let until: Timestamp?

    fileprivate func holds(at now: Timestamp, _ head: ChangeSequence) -> Bool {
        change == head && until.map { now < $0 } ?? true
    }
}

extension VolumeState {
    /// What is granted to an application, with the names that the documents have now; the first
    /// granted first.
    fileprivate func granted(
        to application: String, at now: Timestamp
    ) -> [(row: GrantRow, name: MemoryIndex.Position)] {
        grants.live(for: application, at: now).compactMap { row in
            let position = index.holder(of: row.document)
            let name = position == 0 ? 0 : index[item: position].pointee.firstName
            return name == 0 ? nil : (row: row, name: name)
        }
    }

    /// Tells one list from another.
    fileprivate func stamp(of list: [(row: GrantRow, name: MemoryIndex.Position)]) -> String {
        var hasher = Hasher()
        for (row, name) in list {
            let bytes = index.nameBytes(name)
            hasher.combine(row.document)
            hasher.combine(row.terms.access)
            hasher.combine(bytes.count)
            hasher.combine(bytes: bytes)
        }
        return "\(list.count)-\(UInt(bitPattern: hasher.finalize()))"
    }

    /// Where a document is that was granted to an application: EACCES if it is not, or not for
    /// `writing`; ENOENT if it has no name any more.
    fileprivate func position(
        of document: DocumentID, for application: String, writing: Bool
    ) throws(Errno) -> MemoryIndex.Position {
        guard let terms = grants.terms(of: document, for: application, at: Self.now()),
            !writing || terms.access == .write
        else { throw Errno(EACCES) }
        let position = index.holder(of: document)
        guard position != 0, index[item: position].pointee.firstName != 0 else {
            throw Errno(ENOENT)
        }
        return position
    }
}
