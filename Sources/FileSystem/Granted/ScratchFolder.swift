internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What programs make beside granted documents to save them by renaming, and as locks, swap files and
/// backups: files in the app's container that only its own mount shows.
///
/// Any thread that may wait for the disk.
struct ScratchFolder: Sendable {
    /// Files that nobody changed for so long go at the next mount, in seconds.
    private static let age: Int64 = 30 * 86_400

    private let container: ContainerFolder

    init(_ container: ContainerFolder) { self.container = container }

    /// Whether a file may have the name. All others would be taken for documents by people, and there
    /// is no place for them.
    static func takes(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        if isTemporaryName(bytes) { return true }
        // What programs write before they rename it over a document: "NAME.tmp" by habit, LibreOffice's
        // "lu….tmp" among them; and Kate's swap files. A name alone, as ".tmp", is no such.
        if Self.start(of: bytes, before: [".tmp", ".kate-swp"]) != nil { return true }
        // GNU sed saves through "sedXXXXXX", Perl through "XXXXXXXX" with two of them left, Rust's
        // programs through ".tmpXXXXXX", Python's through "tmpXXXXXXXX".
        return isRandom(bytes, after: "sed", 6) || isRandom(bytes, after: "XX", 6)
            || isRandom(bytes, after: ".tmp", 6) || isRandom(bytes, after: "tmp", 8)
    }

    /// The documents, by what they may be called, that a new file of the name is about to replace: Qt
    /// saves through "NAME.XXXXXX", rsync through ".NAME.XXXXXX", patch through "NAME.oXXXXXX" and its
    /// rejects through "NAME.rXXXXXX". ``takes(_:)`` does not know the documents, so it takes many of
    /// those for words; with one of these beside it, it is none.
    ///
    /// An ending in small letters or in digits alone is somebody's own, unless the name is hidden:
    /// "note.txt.signed", "note.txt.261224".
    static func replaced(by name: String) -> [String] {
        guard let (start, _, isOwn) = madeUp(name) else { return [] }
        var found: [String] = []
        if !isOwn { found.append(String(path: start)) }
        if start.first == UInt8(ascii: "."), start.count > 1 {
            found.append(String(path: start.dropFirst()))
        }
        return found
    }

    /// Why a file of a name that is not admitted cannot be made: EROFS; EEXIST if its name may have been
    /// made up, though it looks like somebody's own. Who makes names up makes up another one then; one in
    /// a hundred of those would fail else.
    ///
    /// - Parameter flags: of open(2). What programs save through they open for reading, too, which patch
    ///   alone does not.
    static func refusal(_ name: String, beside documents: GrantedNames, _ flags: Int32) -> Errno {
        guard flags & O_EXCL != 0, let (start, point, isOwn) = madeUp(name), isOwn,
            documents[String(path: start)] != nil,
            flags & O_ACCMODE == O_RDWR || point.utf8.count > 1
        else { return Errno(EROFS) }
        return Errno(EEXIST)
    }

    /// The parts of a name that may be one of those: what stands before the point, the point with the
    /// letter that patch sets behind it, and whether the ending looks like somebody's own.
    private static func madeUp(
        _ name: String
    ) -> (start: ArraySlice<UInt8>, point: String, isOwn: Bool)? {
        let bytes = name.pathBytes
        let ending = bytes.suffix(6)
        let point = [".", ".o", ".r"].first { point in
            let count = point.utf8.count + 6
            return bytes.count > count && isRandom(Array(bytes.suffix(count)), after: point, 6)
        }
        guard let point else { return nil }
        let isWord = ending.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        let isNumber = ending.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return (bytes.dropLast(point.utf8.count + 6), point, isWord || isNumber)
    }

    /// The document, by what it may be called, that a file of the name stands beside by habit, as a
    /// backup, a draft or what patch could not apply.
    static func model(of name: String) -> String? {
        start(
            of: name.pathBytes,
            before: [".bak", ".backup", ".new", ".old", ".orig", ".rej", ".save"]
        ).map { String(path: $0) }
    }

    /// What stands before the first of these endings that a name has.
    private static func start(of name: [UInt8], before ends: [String]) -> ArraySlice<UInt8>? {
        let end = ends.map(\.utf8).first {
            name.count > $0.count && name.suffix($0.count).elementsEqual($0)
        }
        return end.map { name.dropLast($0.count) }
    }

    /// Whether a file may have the name beside these documents.
    ///
    /// - Parameter isNew: whether it is sure to be a new one.
    static func admits(_ name: String, beside documents: GrantedNames, isNew: Bool) -> Bool {
        if takes(name) { return true }
        if let model = model(of: name), documents[model] != nil { return true }
        return isNew && replaced(by: name).contains { documents[$0] != nil }
    }

    /// Whether a document that is renamed to this name becomes a backup: the name has its own in it. All
    /// else would be taken for the document itself.
    ///
    /// - Parameter isExclusive: whether it must not replace anything. So mv(1) renames, which is to say
    ///   that it cannot take the document away, and else only who makes "NAME.~1~".
    static func isBackup(_ name: String, of document: String, isExclusive: Bool) -> Bool {
        let (name, document) = (name.pathBytes, document.pathBytes)
        guard isBackupName(name, of: document) else { return false }
        let end = name.dropFirst(document.count)
        return !isExclusive
            || name.starts(with: document) && end.starts(with: ".~".utf8)
                && end.last == UInt8(ascii: "~")
    }

    /// Whether so many letters, digits or underscores stand behind the start of a name, and no more.
    private static func isRandom(_ name: [UInt8], after start: String, _ count: Int) -> Bool {
        name.count == start.utf8.count + count && name.starts(with: start.utf8)
            && name.suffix(count).allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    func folder(_ owner: String) -> String { container.scratch + "/" + owner }

    /// Where a file is.
    func path(_ owner: String, _ name: String) -> String { folder(owner) + "/" + name }

    /// Those beside the documents of an owner.
    func names(_ owner: String) -> [String] {
        (try? Directories.names(in: folder(owner))) ?? []
    }

    /// Opens a file that is made if it is not there.
    ///
    /// - Parameters:
    ///   - flags: of open(2); EEXIST with O_EXCL if it is there.
    ///   - mode: of a new file, as it is: the program's mask has been taken off, and this process's
    ///     is nobody's business.
    func open(_ owner: String, _ name: String, _ flags: Int32, mode: mode_t) throws(Errno)
        -> OwnedDescriptor
    {
        try make(owner)
        let place = path(owner, name)
        let flags = flags | O_NOFOLLOW | O_NOCTTY
        while true {
            if flags & O_EXCL == 0 {
                do throws(Errno) { return try OwnedDescriptor.open(place, flags) } catch {
                    guard error.code == ENOENT else { throw error }
                }
            }
            do throws(Errno) {
                let file = try OwnedDescriptor.open(
                    place, flags | O_CREAT | O_EXCL, mode: mode)
                try check { fchmod(file.number, mode) }
                return file
            } catch {
                // Somebody else has just made it.
                guard flags & O_EXCL == 0, error.code == EEXIST else { throw error }
            }
        }
    }

    /// Makes a file that has what another one has, whole or not at all.
    ///
    /// - Parameters:
    ///   - replaces: whether it may take the place of one of that name; else EEXIST.
    ///   - lastly: called before it gets its name; throws if nothing is to come of it.
    func copy(
        _ source: borrowing OwnedDescriptor, _ owner: String, _ name: String, replaces: Bool,
        lastly: () throws(Errno) -> Void
    ) throws(Errno) -> OwnedDescriptor {
        try make(owner)
        let status = try source.status()
        return try WholeFile.create(
            path(owner, name), mode: status.st_mode & 0o777 | 0o600, replaces: replaces,
            write: { (file) throws(Errno) in
                try WholeFile.copy(source, to: file, size: Int64(status.st_size))
                // As a file that was linked or renamed has it.
                let modified = status.st_mtim
                try file.setModified(Int64(modified.tv_sec), Int64(modified.tv_nsec))
                try lastly()
            })
    }

    private func make(_ owner: String) throws(Errno) {
        try Directories.make(container.scratch)
        try Directories.make(folder(owner))
    }

    /// Removes what nobody has needed for long.
    func weed() {
        let now = WallClock.now.seconds
        for owner in (try? Directories.names(in: container.scratch)) ?? [] {
            for name in (try? Directories.names(in: folder(owner))) ?? [] {
                var status = stat()
                let file = path(owner, name)
                // The time of the last change is the program's to set, and a backup has its document's.
                if lstat(file.cPath, &status) == 0, now - Int64(status.st_ctim.tv_sec) > Self.age {
                    unlink(file.cPath)
                }
            }
            rmdir(folder(owner).cPath)
        }
    }
}
