internal import Glibc
internal import PathText
internal import SystemCalls
internal import Thumbnailing

/// Reads and writes the user's list of recently used files, in a process of its own: the list is what
/// other programs wrote.
package enum RecentFilesWorker {
    /// No list is larger, in bytes.
    private static let fileBytes = 16 << 20
    /// Bytes of a message.
    package static let messageBytes = 4 << 20
    /// Others may write at the same moment: so often it is begun anew.
    private static let attempts = 5
    /// A list that its readers have locked is waited for so long, in milliseconds.
    private static let lockPatience = 1_000
    /// A lock that is older was left behind, in seconds.
    private static let lockAge = 10

    /// The list of the user this runs as; nil without a home.
    package static var file: String? {
        let data =
            WorkerEnvironment.variable("XDG_DATA_HOME")
            ?? WorkerEnvironment.variable("HOME").map { $0 + "/.local/share" }
        return data.flatMap { $0.hasPrefix("/") ? $0 + "/recently-used.xbel" : nil }
    }

    /// Carries out the one order that comes over a socket. Returns when that is answered, or the
    /// other side is gone; without an answer if it could not be done.
    package static func serve(_ socket: Int32) {
        var limit = rlimit(rlim_cur: 10, rlim_max: 10)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
        let channel = WorkerChannel(OwnedDescriptor(adopting: socket))
        guard let received = try? channel.receive(limit: messageBytes),
            let order = RecentFilesOrder(message: received.message),
            let answer = perform(order)
        else { return }
        try? channel.send(answer.message)
    }

    /// nil if the list is not to be touched, or could not be written.
    static func perform(_ order: RecentFilesOrder) -> RecentFilesAnswer? {
        let lock = FileLock(order.file + ".lock", patience: lockPatience, age: lockAge)
        defer { lock?.end() }
        for _ in 0..<attempts {
            let stamp = ListStamp(ofFile: order.file)
            guard let bytes = read(order.file), var list = try? BookmarkFile(bytes) else {
                return nil
            }
            list.apply(order)
            if list.isChanged {
                guard let written = write(list, to: order.file, unlessChangedSince: stamp) else {
                    return nil
                }
                if !written { continue }
            } else if ListStamp(ofFile: order.file) != stamp {
                continue
            }
            return RecentFilesAnswer(
                stamp: ListStamp(ofFile: order.file),
                documents: documents(of: list, below: Array((order.folder + "/").utf8)))
        }
        return nil
    }

    /// The bytes of the list, that of an empty one if there is none; nil for what is no plain file:
    /// who has a link to nowhere or a folder in its place wants none.
    private static func read(_ path: String) -> [UInt8]? {
        let file: OwnedDescriptor
        do throws(Errno) {
            file = try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            return error.code == ENOENT ? BookmarkXML.empty : nil
        }
        guard let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG,
            let bytes = try? WholeFile.read(file, limit: fileBytes)
        else { return nil }
        return bytes.isEmpty ? BookmarkXML.empty : bytes
    }

    /// Replaces the list as a whole, as GLib does; false if somebody else was faster, nil if it cannot
    /// be written.
    private static func write(
        _ list: BookmarkFile, to path: String, unlessChangedSince stamp: ListStamp
    ) -> Bool? {
        let types = FileNameTypes(folders: SharedData.folders)
        let text = list.text { path in
            let name = path.split(separator: UInt8(ascii: "/")).last ?? []
            return types.types(ofFileName: String(decoding: name, as: UTF8.self)).first
                ?? "application/octet-stream"
        }
        let temporary = "\(path).\(getpid())"
        defer { unlink(temporary.cPath) }
        guard
            let file = try? OwnedDescriptor.open(
                temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600),
            (try? file.write(text, at: 0)) != nil, (try? file.synchronizeData()) != nil
        else { return nil }
        guard ListStamp(ofFile: path) == stamp else { return false }
        return rename(temporary.cPath, path.cPath) == 0 ? true : nil
    }

    private static func documents(
        of list: BookmarkFile, below folder: [UInt8]
    ) -> [RecentFilesOrder.Document] {
        let found = list.entries.indices.compactMap { index -> RecentFilesOrder.Document? in
            let entry = list.entries[index]
            guard !entry.isRemoved, !entry.isPrivate, let path = list.place(index),
                path.starts(with: folder), entry.moment > 0
            else { return nil }
            return RecentFilesOrder.Document(path: path, opened: entry.moment)
        }
        return Array(found.sorted { $0.opened > $1.opened }.prefix(RecentFilesAnswer.limit))
    }
}

/// The file beside the list by whose presence KDE's programs keep each other out.
private struct FileLock {
    private let path: String

    /// nil if it could not be had: the list is replaced as a whole in any case.
    init?(_ path: String, patience: Int, age: Int) {
        self.path = path
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let name = String(
            decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for _ in 0..<max(1, patience / 20) {
            do throws(Errno) {
                let file = try OwnedDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                // As QLockFile writes it: it finds locks of processes that have died.
                try? file.write(Array("\(getpid())\nshapeedit\n\(name)\n".utf8), at: 0)
                return
            } catch {
                guard error.code == EEXIST else { return nil }
            }
            var status = stat()
            if lstat(path.cPath, &status) == 0, time(nil) - Int(status.st_mtim.tv_sec) > age {
                return nil
            }
            usleep(20_000)
        }
        return nil
    }

    func end() { unlink(path.cPath) }
}
