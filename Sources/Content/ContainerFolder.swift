internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// Where things lie in a container's folder.
///
/// ```
/// reserve           room for opening the container when the disk is full
/// durable           until when everything that was published is known to be on the disk
/// lock              held (flock) by the process that has the container open
/// catalog.sqlite    the catalog, with SQLite's -wal and -shm beside it
/// catalog.sqlite.new  the same while the container is being made
/// catalog.sum       what the catalog's file was when the container was closed
/// texts.sqlite      the words of documents, for searching; can be made again
/// journal/          mutations that SQLite may not have yet
/// staging/          contents being written, and published ones that are not sealed yet, by node
/// packs/            small contents that have no file of their own yet, many to a file
/// spare/            empty files that were contents, to be used again
/// blobs/ab/<hash>   sealed contents, immutable, by SHA-256
/// digests/<hash>    of large ones, what each block is compared with (``BlockDigests``)
/// incoming/<hash>   contents on their way from the store, with a map of what has come
/// store-owner       which stores the container owns, or shares with others
/// store-damaged     blobs that came from its store with other bytes than they should have
/// store-unneeded    blobs in its store that nothing needs, and since when
/// pictures/ab/<node>  pictures of versions, where there are any
/// drawing/<node>    contents that are being drawn, or stay until they were
/// reading/<node>    contents that were let go before their words were read, until they are
/// lost/<name>       contents of changes that went with the journal, when somebody removed that
/// desktop-places    where it was mounted, as long as the desktop's cache may have entries of that
/// scratch/<owner>   of an app: what programs made beside the documents that were granted to it
/// log               what daemons in the background had to say; what was said earlier is in log.old
/// ```
package struct ContainerFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package var lock: String { path + "/lock" }

    /// What the lock file of a mounted container begins with.
    package static func mounted(at mountPoint: String) -> String { "mounted at \(mountPoint)" }

    /// Where it says that the container is mounted; `nil` if it says something else.
    package static func mountPoint(in words: String) -> String? {
        let beginning = mounted(at: "")
        return words.hasPrefix(beginning) ? String(words.dropFirst(beginning.count)) : nil
    }

    package var catalog: String { path + "/catalog.sqlite" }
    /// The catalog while the container is being made.
    package var catalogDraft: String { catalog + ".new" }
    package var catalogSum: String { path + "/catalog.sum" }
    package var texts: String { path + "/texts.sqlite" }
    package var durable: String { path + "/durable" }
    package var reserve: String { path + "/reserve" }
    package var journal: String { path + "/journal" }
    package var staging: String { path + "/staging" }
    package var blobs: String { path + "/blobs" }
    package var packs: String { path + "/packs" }
    package var spare: String { path + "/spare" }
    package var digests: String { path + "/digests" }
    package var incoming: String { path + "/incoming" }
    package var pictures: String { path + "/pictures" }
    package var drawing: String { path + "/drawing" }
    package var reading: String { path + "/reading" }
    package var lost: String { path + "/lost" }
    package var scratch: String { path + "/scratch" }
    package var desktopPlaces: String { path + "/desktop-places" }
    package var storeOwner: String { path + "/store-owner" }
    package var storeDamaged: String { path + "/store-damaged" }
    package var storeUnneeded: String { path + "/store-unneeded" }
    package var log: String { path + "/log" }
    package var earlierLog: String { log + ".old" }

    /// All names that there can be in the folder.
    package static let names: Set<String> = [
        "lock", "durable", "reserve", "catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm",
        "catalog.sqlite.new", "catalog.sqlite.new-wal", "catalog.sqlite.new-shm", "catalog.sum",
        "journal", "staging", "packs", "spare", "blobs", "digests", "incoming",
        "pictures", "drawing", "reading", "scratch", "lost",
        "texts.sqlite", "texts.sqlite-wal", "texts.sqlite-shm",
        "store-owner", "store-owner.new", "store-unneeded", "store-unneeded.new",
        "store-damaged", "desktop-places", "desktop-places.new", "log", "log.old",
    ]

    /// Fails if there is nothing at the path, or something else than a container or what is left of one.
    ///
    /// - Parameter name: what the container is called.
    package func checkOurs(_ name: String) throws(Failure) {
        let found: [String]
        do throws(Errno) { found = try Directories.names(in: path) } catch {
            if error.code == ENOENT {
                throw lostCatalog ?? Failure(.noInput, "there is no container \(name)")
            }
            if error.code != ENOTDIR { return }
            throw foreign(name)
        }
        if !found.isEmpty, Self.names.isDisjoint(with: found) { throw foreign(name) }
    }

    /// What is said where only files of others are.
    package func foreign(_ name: String) -> Failure {
        Failure(.noInput, "there is no container \(name): what is at \(path) is something else")
    }

    package func staging(_ node: NodeNumber) -> String { staging + "/" + node.fileName }

    package func blob(_ hash: ContentHash) -> String {
        let name = hash.description
        return blobs + "/" + name.prefix(2) + "/" + name
    }

    package func digests(_ hash: ContentHash) -> String { digests + "/" + hash.description }

    /// What the name of the map beside an incoming content ends with, and that of digests being made.
    package static let mapSuffix = ".map"

    package func incoming(_ hash: ContentHash) -> String { incoming + "/" + hash.description }

    /// Fails if the container belongs to another user: working on it would leave files that its
    /// owner cannot use, or cannot be done at all.
    package func checkOwner() throws(Failure) {
        var status = stat()
        guard stat(path.cPath, &status) == 0, status.st_uid != geteuid() else { return }
        let owner = Self.userName(status.st_uid)
        throw Failure(
            .noPermission,
            "\(path) belongs to \(owner): only they can use this container"
                + (geteuid() == 0 ? " (`sudo -u \(owner)`)" : ""))
    }

    /// The name of an account, or its number if it has none.
    package static func userName(_ user: UInt32) -> String {
        guard let entry = getpwuid(user) else { return "user \(user)" }
        return String(cString: entry.pointee.pw_name)
    }

    /// Whether there are contents of documents, whatever else is missing.
    package var hasContents: Bool {
        let hasFiles: (String, (_ name: String) -> Bool) -> Bool = { folder, isOurs in
            ((try? Directories.names(in: folder)) ?? []).contains(where: isOurs)
        }
        let isBlob: (String) -> Bool = { Self.hash(of: $0) != nil }
        return hasFiles(staging) { Self.node(of: $0) != nil }
            || hasFiles(packs) { Self.number(of: $0) != nil } || hasFiles(incoming, isBlob)
            || hasFiles(blobs) { hasFiles(blobs + "/" + $0, isBlob) }
    }

    /// Whether the container has its catalog. Fails where the folder may not be entered.
    package func hasCatalog() throws(Failure) -> Bool {
        if access(catalog.cPath, F_OK) == 0 { return true }
        guard errno == EACCES else { return false }
        try checkOwner()
        throw Failure(.noPermission, "\(path): \(Errno(EACCES))")
    }

    /// What to say where only the catalog of a container is missing, or the container is on a disk that is not
    /// there; `nil` where the catalog is there, or there are no contents either.
    package var lostCatalog: Failure? {
        guard access(catalog.cPath, F_OK) != 0 else { return nil }
        if access(path.cPath, F_OK) != 0, errno == ENOENT,
            let target = try? SymbolicLink.target(of: path)
        {
            return Failure(
                .noInput,
                "\(path) is a link to \(String(path: target)), which is not there: mount the disk that has "
                    + "it, or remove the link")
        }
        guard hasContents else { return nil }
        return Failure(
            .badData,
            "\(path) has contents of a container, but its catalog.sqlite is missing. Put a backup "
                + "of the whole folder back, or move the folder away to begin anew")
    }

    /// The number that a file in ``packs`` or ``spare`` has for its name; `nil` for what is not ours.
    package static func number(of name: String) -> Int? {
        guard let number = Int(name), number > 0, number < 1 << 48, String(number) == name else {
            return nil
        }
        return number
    }

    /// The node that a file in ``staging`` has for its name; `nil` for what is not ours.
    package static func node(of name: String) -> NodeNumber? {
        guard let number = UInt64(name, radix: 16) else { return nil }
        let node = NodeNumber(rawValue: number)
        return node.fileName == name ? node : nil
    }

    /// The hash that a file among ``blobs`` has for its name; `nil` for what is not ours.
    package static func hash(of name: String) -> ContentHash? {
        guard let hash = Hexadecimal.bytes(name.utf8).flatMap({ ContentHash(bytes: $0) }),
            hash.description == name
        else { return nil }
        return hash
    }

    /// Whether a folder in ``blobs`` or ``pictures`` has the name of one of ours: that of a byte.
    package static func isShelf(_ name: String) -> Bool {
        name.utf8.count == 2 && Hexadecimal.bytes(name.utf8).map(Hexadecimal.text) == name
    }

    /// Makes the folders that are missing, each 0700.
    ///
    /// Fails if something else has the place of one, such as a link to a disk that is not there now:
    /// what is in it would be taken for lost.
    ///
    /// - Parameter isNew: nothing is in the container yet.
    package func make(isNew: Bool) throws(Failure) {
        for folder in [path, journal, staging, packs, spare, blobs, digests, incoming] {
            do throws(Errno) { try Directories.make(folder) } catch {
                throw Failure(
                    isNew ? .cannotCreate : .inputOutput, "\(folder): \(error)",
                    isDiskFull: error.isNoRoom)
            }
            var status = stat()
            let isSeen = stat(folder.cPath, &status) == 0
            if !isSeen, ![ENOENT, ENOTDIR, ELOOP].contains(errno) {
                throw Failure(.inputOutput, "\(folder): \(Errno.last)")
            }
            guard isSeen, status.st_mode & S_IFMT == S_IFDIR else {
                throw Failure(
                    isNew ? .cannotCreate : .badData,
                    "\(folder) is no folder and leads to none; put the folder back that belongs there"
                )
            }
            // One that was there already may be open to others.
            if isNew, folder == path { chmod(folder.cPath, 0o700) }
        }
    }
}
