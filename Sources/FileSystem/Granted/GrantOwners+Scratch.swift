internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Saving by renaming: a file of the app's takes the place of a granted document's content.
extension GrantOwners {
    var scratch: ScratchFolder { ScratchFolder(folder(application)) }

    /// Runs a call on the path of what a node stands for.
    ///
    /// - Parameter shared: as in the other one.
    /// - Throws: what the call does; EPERM for a folder.
    func on<Result: ~Copyable>(
        _ node: GrantedNode, shared: Bool, _ call: (String) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        switch node {
        case .folder, .pictures: throw Errno(EPERM)
        case .document(let owner, let document, _):
            try on(document, of: owner, shared: shared, call)
        case .scratch(let owner, let name, _): try call(scratch.path(owner, name))
        case .picture(let owner, let document, let size, _):
            try on(VirtualTree.pictureName(document, size), of: owner, call)
        }
    }

    /// Makes what is in a file the next version of a document, as an editor on the owner's mount would:
    /// a new file beside it gets its name, so that whoever reads finds the old content or the new one,
    /// also if this process dies. Where no file can be made there it is written in place. It gets the
    /// file's modification time.
    ///
    /// - Parameter goOn: called again and again, and in the end with true, before what cannot be taken
    ///   back; throws if nothing is to come of it.
    /// - Throws: EACCES if the document is not granted for writing.
    func replace(
        _ document: DocumentID, of owner: String, with source: borrowing OwnedDescriptor,
        goOn: (_ toTheEnd: Bool) throws(Errno) -> Void
    ) throws(Errno) {
        let point: String
        do throws(Errno) { point = try self.point(of: owner) } catch { throw Errno(EIO) }
        let status = try source.status()
        let size = Int64(status.st_size)
        // As a rename of the file itself would show it: rsync tells by it what it need not copy.
        let (seconds, rest) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
        try on(document, of: owner, shared: false) { (shown) throws(Errno) in
            try requireWriting(document, at: shown)
            do throws(Errno) {
                let place = try Self.place(of: document, in: point)
                let model = try OwnedDescriptor.open(place, O_RDONLY | O_NOCTTY)
                try WholeFile.replaceClosed(
                    place, like: model,
                    lastly: { () throws(Errno) in
                        // To write it and make it durable takes its time: meanwhile the document may
                        // have been revoked, or moved, and another one have its name.
                        try requireWriting(document, at: shown)
                        if try Self.place(of: document, in: point) != place {
                            throw Errno(EAGAIN)
                        }
                        try goOn(true)
                    },
                    write: { (file) throws(Errno) in
                        try WholeFile.copy(source, to: file, size: size) { () throws(Errno) in
                            try goOn(false)
                        }
                        try file.setModified(seconds, rest)
                    })
                return
            } catch {
                guard [EACCES, EPERM, EROFS, EAGAIN].contains(error.code) else { throw error }
            }
            try goOn(true)
            try on(document, of: owner, shared: true) { (shown) throws(Errno) in
                let file = try OwnedDescriptor.open(shown, O_WRONLY | O_TRUNC | O_NOCTTY)
                try WholeFile.copy(source, to: file, size: size) { try? goOn(true) }
                try? file.setModified(seconds, rest)
            }
        }
    }

    /// Throws EACCES if a document, shown at this path, is not granted for writing at this moment.
    private func requireWriting(_ document: DocumentID, at shown: String) throws(Errno) {
        let text: [UInt8]
        do throws(Errno) {
            text = try PathAttributes.value(attribute(of: document), of: shown)
        } catch { throw error.code == ENODATA ? Errno(EACCES) : error }
        guard GrantTerms(String(decoding: text, as: UTF8.self))?.access == .write else {
            throw Errno(EACCES)
        }
    }

    /// Makes a file of the app's that has what a document has.
    ///
    /// - Parameters:
    ///   - shared: as its writers see it; else the current version.
    ///   - replaces: whether it may take the place of a file of that name; else EEXIST.
    ///   - lastly: called before it gets its name; throws if nothing is to come of it.
    /// - Returns: the new file, open.
    func copy(
        _ document: DocumentID, of owner: String, shared: Bool, to name: String,
        replaces: Bool = false, lastly: () throws(Errno) -> Void
    ) throws(Errno) -> OwnedDescriptor {
        try on(document, of: owner, shared: shared) { (shown) throws(Errno) -> OwnedDescriptor in
            let source = try OwnedDescriptor.open(shown, O_RDONLY | O_NOCTTY)
            return try scratch.copy(source, owner, name, replaces: replaces, lastly: lastly)
        }
    }

    /// Where a document lies now.
    private static func place(of document: DocumentID, in point: String) throws(Errno) -> String {
        let target = try SymbolicLink.target(of: "\(point)/.shapeedit/documents/\(document)")
        // As all links there, "../../PATH".
        return point + "/" + String(path: target.dropFirst("../../".utf8.count))
    }
}
