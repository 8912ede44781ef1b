internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The containers of this user that grant documents to an application, by their folders and mounts.
///
/// Any thread that may wait: every call may wait for another mount.
package struct GrantOwners: Sendable {
    /// The folder of all containers.
    private let home: String
    let application: String

    package init(home: String, application: String) {
        self.home = home
        self.application = application
    }

    /// One of an owner's documents.
    struct Document: Sendable {
        let document: DocumentID
        let access: GrantedAccess
        /// As the owner calls it; no other of its documents here is called so.
        let name: String
    }

    func folder(_ owner: String) -> ContainerFolder {
        ContainerFolder(path: home + "/" + owner)
    }

    /// Those that grant anything at this moment, by name: as their catalogs have it, so that no mount
    /// that hangs is in the way.
    func owners() -> [String] {
        others().filter(isInCatalog).sorted()
    }

    /// All containers that could grant something, in no order. Waits for no mount.
    func others() -> [String] { ((try? Directories.names(in: home)) ?? []).filter(isOwner) }

    /// Whether it is another container. Waits for no mount.
    func isOwner(_ name: String) -> Bool {
        ContainerName.isValid(name) && name != application
            && access(folder(name).catalog.cPath, F_OK) == 0
    }

    /// Whether the owner's catalog has a grant that holds; grants are there when their commands end.
    func isInCatalog(_ owner: String) -> Bool {
        guard
            let database = try? CatalogDatabase(
                lookingAt: folder(owner).catalog, busyMilliseconds: 500)
        else { return false }
        defer { database.close() }
        let now = VolumeState.now()
        return ((try? database.grants()) ?? []).contains {
            $0.application == application && $0.isLive(at: now)
        }
    }

    /// Where the owner is mounted, as it says itself: its lock file tells who has it open.
    func point(of owner: String) throws(Errno) -> String {
        let file = try OwnedDescriptor.open(folder(owner).lock, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = try file.read(into: &bytes, at: 0)
        let text = String(path: bytes[..<count])
        let prefix = ContainerFolder.mounted(at: "")
        guard text.hasPrefix(prefix) else { throw Errno(EIO) }
        // Behind the path stands the process, in brackets that the path may have, too.
        var path = text.dropFirst(prefix.count)
        while let last = path.popLast(), last != "(" {}
        guard path.hasPrefix("/"), path.hasSuffix(" ") else { throw Errno(EIO) }
        return String(path.dropLast())
    }

    /// The folder of the owner's mount that has what it grants.
    func place(of owner: String) throws(Errno) -> String {
        try point(of: owner) + "/.shapeedit/granted/\(owner)/\(application)"
    }

    /// A text that is another as soon as the owner grants something else, or calls it otherwise; `nil` if
    /// it does not answer.
    func stamp(of owner: String) -> String? {
        guard let place = try? place(of: owner),
            let value = try? PathAttributes.value(VirtualTree.stampAttribute, of: place)
        else { return nil }
        return String(decoding: value, as: UTF8.self)
    }

    /// What the owner grants at this moment; EIO if it is not mounted or its mount is dead.
    func documents(of owner: String) throws(Errno) -> GrantedNames {
        let bytes: [UInt8]
        do throws(Errno) {
            let names = try place(of: owner) + "/" + VirtualTree.namesFile
            bytes = try WholeFile.read(try OwnedDescriptor.open(names, O_RDONLY), limit: 1 << 30)
        } catch { throw Errno(EIO) }
        var lines = bytes.split(separator: 0)[...]
        var stamp: String?
        let mark = VirtualTree.stampMark.utf8
        if let first = lines.first, first.starts(with: mark) {
            stamp = String(decoding: first.dropFirst(mark.count), as: UTF8.self)
            lines.removeFirst()
        }
        let documents = lines.compactMap { line -> Document? in
            // As bytes: in a text a name's first mark can be one with the space before it.
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
                .map { String(path: $0) }
            guard parts.count == 3, let document = DocumentID(parts[0]),
                let access = GrantedAccess(parts[1])
            else { return nil }
            return Document(document: document, access: access, name: parts[2])
        }
        return GrantedNames(documents, stamp: stamp)
    }

    /// Runs a call on the path of a document.
    ///
    /// - Parameter shared: as its writers see it; else the current version.
    /// - Throws: what the call does; EIO if the owner is not mounted or its mount is dead.
    func on<Result: ~Copyable>(
        _ document: DocumentID, of owner: String, shared: Bool,
        _ call: (String) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let suffix = shared ? VirtualTree.sharedSuffix : ""
        return try on("\(document)\(suffix)", of: owner, call)
    }

    /// Runs a call on the path of what has a name in the folder of what the owner grants.
    ///
    /// - Throws: as the other one.
    func on<Result: ~Copyable>(
        _ name: String, of owner: String, _ call: (String) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let place: String
        do throws(Errno) { place = try self.place(of: owner) } catch { throw Errno(EIO) }
        do throws(Errno) { return try call("\(place)/\(name)") } catch {
            // Where no container is mounted any more there is no such path either.
            let names = place + "/" + VirtualTree.namesFile
            if error.code == ENOENT, access(names.cPath, F_OK) != 0 {
                throw Errno(EIO)
            }
            throw Self.answer(error)
        }
    }

    /// What is said of a call on an owner's mount that failed.
    static func answer(_ error: Errno) -> Errno {
        switch error.code {
        case ENOTCONN, ECONNABORTED, ENODEV, ENXIO: Errno(EIO)
        default: error
        }
    }

    /// The attribute that says whether a document is granted, on any item of the owner's.
    func attribute(of document: DocumentID) -> String {
        "user.shapeedit.granted.\(document).\(application)"
    }

    /// Why the owner does not answer; `nil` if it does.
    func problem(of owner: String) -> String? {
        do throws(Errno) {
            let names = try place(of: owner) + "/" + VirtualTree.namesFile
            _ = try OwnedDescriptor.open(names, O_RDONLY)
            return nil
        } catch {
            // Where it was mounted last there is nothing of the kind now.
            if error.code == ENOENT || error.code == EIO || error.code == ENOTDIR {
                return "the container \(owner) is not mounted"
            }
            return "the mount of the container \(owner) does not answer: \(error)"
        }
    }
}
