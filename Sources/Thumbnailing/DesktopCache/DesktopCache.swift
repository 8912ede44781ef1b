internal import Glibc
internal import PathText
public import SystemCalls

/// The cache of thumbnails that file managers share, after the freedesktop specification. What is
/// in it for a file is shown without the file being opened.
///
/// Paths are absolute, without `.`, `..` and doubled slashes, as file managers name the file, and texts as
/// `PathText` makes them. May be used from any thread and by several processes: entries appear whole or
/// not at all. Only who reads one by its former path while it is moved may find a part of its new address in it.
public struct DesktopCache: Sendable {
    /// The sizes of the cache.
    public enum Size: String, CaseIterable, Sendable {
        /// 128 pixels.
        case normal = "normal"
        /// 256 pixels.
        case large = "large"
        /// 512 pixels.
        case extraLarge = "x-large"
        /// 1024 pixels.
        case doubleExtraLarge = "xx-large"

        /// The longest side of its pictures.
        public var pixels: Int {
            switch self {
            case .normal: 128
            case .large: 256
            case .extraLarge: 512
            case .doubleExtraLarge: 1_024
            }
        }
    }

    /// What the cache knows of a file.
    public struct Subject: Sendable {
        /// Where it is.
        public var path: String
        /// Its time of modification in whole seconds since 1970, rounded down: an entry with
        /// another is not used.
        public var modified: Int64
        /// The rest of that time.
        public var microseconds: Int64
        /// Its size in bytes; nil to leave it out.
        public var size: Int64?
        /// Its MIME type; nil to leave it out.
        public var mimeType: String?
        /// What tells this state of it from others of the same time and size; nil if nothing does.
        /// File managers pass over it.
        public var version: String?

        /// The facts of a file.
        public init(
            path: String, modified: Int64, microseconds: Int64 = 0, size: Int64? = nil,
            mimeType: String? = nil, version: String? = nil
        ) {
            self.path = path
            self.modified = modified
            self.microseconds = microseconds
            self.size = size
            self.mimeType = mimeType
            self.version = version
        }
    }

    /// Why an entry was not written.
    public enum Failure: Error, Equatable, Sendable {
        /// What was given is no PNG file of 8 bits that fits into the size.
        case notAPicture(Size)
        /// The kernel refused.
        case system(Errno)
    }

    /// The key of the file's address.
    static let addressKey = "Thumb::URI"
    /// How much longer the address of a file may become before its entries are written anew.
    private static let room = 256
    /// The key of the time. GLib and Qt want whole seconds, tumbler those and six digits: with GLib all
    /// entries of text count that are of the narrow kind (tEXt), with Qt the last one of any kind, with
    /// tumbler the last one of any kind up to where it has found both a time and the address.
    private static let timeKey = "Thumb::MTime"
    /// The revision of what an entry has in it and in which order. What is made of it is part of
    /// ``Subject/version``, where that is to tell entries of earlier ones.
    package static let revision = 1
    /// The key of ``Subject/version``.
    static let versionKey = "ShapeEdit::Version"

    /// The folder with a folder for each size.
    public let folder: String

    /// The cache in a folder.
    public init(folder: String) { self.folder = folder }

    /// The cache of the user of this process; nil without a home.
    public static var ofUser: DesktopCache? {
        if let cache = WorkerEnvironment.variable("XDG_CACHE_HOME"), cache.hasPrefix("/") {
            return DesktopCache(folder: cache + "/thumbnails")
        }
        return WorkerEnvironment.variable("HOME").map {
            DesktopCache(folder: $0 + "/.cache/thumbnails")
        }
    }

    /// Whether its folders let files be written, those that are there and those that would be made.
    package var isWritable: Bool {
        Size.allCases.allSatisfy { size in
            var place = "\(folder)/\(size.rawValue)"
            var status = stat()
            // What is there above it. A symlink that leads nowhere is in the way of a folder.
            while lstat(place.cPath, &status) != 0 {
                if Errno.last.code != ENOENT { return false }
                place = place.parentPath
            }
            return access((place + "/.").cPath, W_OK | X_OK) == 0
        }
    }

    /// Whether its disk has room for the entries of a document.
    package var hasRoom: Bool {
        var status = statvfs()
        guard statvfs(folder.cPath, &status) == 0 else { return false }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        let isCounted = status.f_files > 0
        return (free.overflow || free.partialValue >= Self.entryBytes)
            && (!isCounted || status.f_favail >= Size.allCases.count)
    }

    /// Writes pictures of a file, in place of those that were there, in these sizes. Those that are not given,
    /// and those that cannot be written, lose the entry they had, which would show what the file was. One that
    /// cannot be written keeps none of the others from it; the first problem is thrown.
    public func write(
        _ pictures: [Size: [UInt8]], for subject: Subject, in sizes: [Size] = Size.allCases
    ) throws(Failure) {
        let address = FileURI.address(ofPath: subject.path.pathBytes)
        let name = try system { () throws(Errno) in try FileURI.entryName(address) }
        let time = Self.time(subject.modified)
        // The first one, for ``move(path:to:of:)`` and for tumbler.
        var texts = [(Self.addressKey, address), (Self.timeKey, time)]
        if let size = subject.size { texts.append(("Thumb::Size", String(size))) }
        if let type = subject.mimeType { texts.append(("Thumb::Mimetype", type)) }
        if let version = subject.version { texts.append((Self.versionKey, version)) }
        texts.append(("Software", "ShapeEdit"))
        let rest = String(1_000_000 + subject.microseconds).dropFirst()
        let wideTexts = [(key: Self.timeKey, value: "\(time).\(rest)")]
        var problem: Failure?
        for size in sizes {
            guard let bytes = pictures[size] else {
                unlink(path(size, name).cPath)
                continue
            }
            do throws(Failure) {
                guard let file = PNGFile(bytes), file.width <= size.pixels,
                    file.height <= size.pixels
                else { throw .notAPicture(size) }
                let entry = file.bytes(
                    texts: texts.map { (key: $0.0, value: $0.1) }, wideTexts: wideTexts,
                    room: Self.room)
                try system { () throws(Errno) in try put(entry, size, name) }
            } catch {
                unlink(path(size, name).cPath)
                problem = problem ?? error
            }
        }
        if let problem { throw problem }
    }

    /// Whether there are entries of a file, right or not, that others have made: without a
    /// ``Subject/version``.
    public func hasOthers(path: String) -> Bool {
        guard let name = try? name(ofPath: path) else { return false }
        return Size.allCases.contains { size in
            read(size, name).map { PNGFile.texts(of: $0)[Self.versionKey] == nil } ?? false
        }
    }

    /// Whether there is an entry for this state of a file that others have made.
    package func isCurrentOfOthers(_ size: Size, of subject: Subject) -> Bool {
        var subject = subject
        subject.version = nil
        return picture(size, of: subject).map { PNGFile.texts(of: $0)[Self.versionKey] == nil }
            ?? false
    }

    /// Removes the entries of a file; says whether there were any.
    @discardableResult
    public func remove(path: String) throws(Failure) -> Bool {
        try remove(path: path, ifIn: nil)
    }

    /// The same where it is known which there may be, unless there is no watch.
    package func remove(path: String, ifIn watch: DesktopCacheWatch?) throws(Failure) -> Bool {
        let name = try name(ofPath: path)
        if let watch, !watch.mayHave(name) { return false }
        return Size.allCases.filter { unlink(self.path($0, name).cPath) == 0 }.isEmpty == false
    }

    /// Whether there is an entry for this state of a file.
    public func isCurrent(_ size: Size, of subject: Subject) -> Bool {
        picture(size, of: subject) != nil
    }

    /// Whether a file has an entry of that size, of whatever state.
    package func has(_ size: Size, path: String) -> Bool {
        (try? name(ofPath: path)).map { access(self.path(size, $0).cPath, F_OK) == 0 } ?? false
    }

    /// The entry for this state of a file, a PNG file; nil if there is none.
    public func picture(_ size: Size, of subject: Subject) -> [UInt8]? {
        guard let name = try? name(ofPath: subject.path), let bytes = read(size, name) else {
            return nil
        }
        return isCurrent(PNGFile.texts(of: bytes), of: subject) ? bytes : nil
    }

    /// Whether those are the texts of an entry for this state of a file.
    func isCurrent(_ texts: [String: String], of subject: Subject) -> Bool {
        texts[Self.addressKey] == FileURI.address(ofPath: subject.path.pathBytes)
            && texts[Self.timeKey] == Self.time(subject.modified)
            && (subject.version == nil || texts[Self.versionKey] == subject.version)
    }

    /// A time as GLib compares it: before 1970 as what the same 64 bits are without a sign.
    private static func time(_ modified: Int64) -> String { String(UInt64(bitPattern: modified)) }

    func name(ofPath path: String) throws(Failure) -> String {
        try system { () throws(Errno) in
            try FileURI.entryName(FileURI.address(ofPath: path.pathBytes))
        }
    }

    func path(_ size: Size, _ name: String) -> String {
        "\(folder)/\(size.rawValue)/\(name)"
    }

    func system<Result>(_ body: () throws(Errno) -> Result) throws(Failure) -> Result {
        do throws(Errno) { return try body() } catch { throw .system(error) }
    }
}

extension DesktopCache {
    /// No entry is larger: the largest picture of 1024 pixels without compression.
    private static let entryBytes = 5 << 20

    func read(_ size: Size, _ name: String) -> [UInt8]? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let file = try? OwnedDescriptor.open(path(size, name), flags) else { return nil }
        return try? WholeFile.read(file, limit: Self.entryBytes)
    }

    func put(_ bytes: [UInt8], _ size: Size, _ name: String) throws(Errno) {
        let target = path(size, name)
        let temporary = "\(target).\(processIdentifier())-\(UInt64.random(in: 0 ... .max))"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        var file: OwnedDescriptor
        do throws(Errno) {
            file = try OwnedDescriptor.open(temporary, flags, mode: 0o600)
        } catch {
            guard error.code == ENOENT else { throw error }
            try Directories.make("\(folder)/\(size.rawValue)")
            file = try OwnedDescriptor.open(temporary, flags, mode: 0o600)
        }
        do throws(Errno) {
            try file.write(bytes, at: 0)
            // The mode is the specification's whatever the mask of this process.
            try check { fchmod(file.number, 0o600) }
            if Glibc.rename(temporary.cPath, target.cPath) == 0 { return }
            let problem = Errno.last
            // An empty directory in its place makes way; one with something in it is somebody's.
            guard problem.code == EISDIR, rmdir(target.cPath) == 0 else { throw problem }
            try check { Glibc.rename(temporary.cPath, target.cPath) }
        } catch {
            unlink(temporary.cPath)
            throw error
        }
    }
}
