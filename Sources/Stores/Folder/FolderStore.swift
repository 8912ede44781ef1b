internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// Blobs in a folder, for instance on another disk or on a file server that is mounted.
///
/// ```
/// shapeedit-store      says that this is a store; a disk that is not mounted has none
/// incoming/            blobs that are being put
/// ab/<hash>            blobs
/// ```
/// A put is written to `incoming`, made durable and renamed, so a blob is there whole or not at all.
package final class FolderStore: ContentStore {
    /// Bytes copied at a time, between which a cancelled call stops.
    private static let chunk = 1 << 20
    /// What was being put longer ago than this is left over from a crash: seconds.
    private static let abandonedAfter: Int64 = 86_400

    package let address: String
    let path: String
    private let serial = Lock(UInt64.random(in: 0...UInt64.max))

    package init(path: String) {
        self.path = path
        address = "folder:" + path
    }

    private var mark: String { path + "/shapeedit-store" }
    var incoming: String { path + "/incoming" }
    private func file(_ hash: ContentHash) -> String { "\(path)/\(hash.fanOut)/\(hash)" }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        try call.cancellation.check(at: address)
        try here("the folder cannot be made") { () throws(Errno) in
            try Directories.make(incoming)
            _ = try OwnedDescriptor.open(mark, O_WRONLY | O_CREAT, mode: 0o600)
            try Directories.synchronize(path)
        }
        removeAbandoned()
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        if !call.replaces, try stat(blob.hash, call) == blob.size {
            // Who put it may have died before its name was durable.
            return try here("\(blob.hash) cannot be made durable") { () throws(Errno) in
                try synchronizeName(blob.hash)
            }
        }
        let source = try CheckedSource(source, of: blob, for: address)
        let temporary = incoming + "/\(blob.hash).\(nextSerial())"
        do throws(StoreError) {
            try write(blob, from: source, to: temporary, call)
            try here("\(blob.hash) cannot be put in its place") { () throws(Errno) in
                try settle(temporary, blob.hash)
            }
        } catch {
            unlink(temporary.cPath)
            throw error
        }
    }

    private func write(
        _ blob: Blob, from source: CheckedSource, to temporary: String, _ call: StoreCall
    ) throws(StoreError) {
        var opened: FileTransfer?
        try here("\(blob.hash) cannot be written") { () throws(Errno) in
            let file = try OwnedDescriptor.open(
                temporary, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            opened = FileTransfer(file, name: temporary)
        }
        guard let target = opened else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(Int64(Self.chunk), max(blob.size, 1))), alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < blob.size {
            try call.cancellation.check(at: address)
            let count = try source.read(into: buffer, at: offset)
            try here("\(blob.hash) cannot be written") { () throws(Errno) in
                try target.writeOut(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            }
            offset += Int64(count)
            call.progress?(offset)
        }
        try here("\(blob.hash) cannot be made durable") { () throws(Errno) in
            try target.synchronize()
        }
    }

    /// Gives a whole and durable file its name.
    private func settle(_ temporary: String, _ hash: ContentHash) throws(Errno) {
        let target = file(hash)
        try Directories.make("\(path)/\(hash.fanOut)")
        do throws(Errno) { try Directories.renameExclusively(temporary, target) } catch {
            // One that is wrong, or put by somebody else meanwhile; the same bytes then.
            guard error.code == EEXIST else { throw error }
            try check { rename(temporary.cPath, target.cPath) }
        }
        try synchronizeName(hash)
    }

    private func synchronizeName(_ hash: ContentHash) throws(Errno) {
        try Directories.synchronize("\(path)/\(hash.fanOut)")
        try Directories.synchronize(path)
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        try call.cancellation.check(at: address)
        try require(blob, call)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(Self.chunk, max(range.count, 1)), alignment: 16)
        defer { buffer.deallocate() }
        var source: FileTransfer?
        try here("\(blob.hash) cannot be opened") { () throws(Errno) in
            source = FileTransfer(
                try OwnedDescriptor.open(file(blob.hash), O_RDONLY), name: file(blob.hash))
        }
        guard let source else { return }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try call.cancellation.check(at: address)
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            var count = 0
            try here("\(blob.hash) cannot be read") { () throws(Errno) in
                count = try source.readIn(part, at: offset)
            }
            guard count > 0 else {
                throw StoreError(.corrupt, at: address, "\(blob.hash) became shorter")
            }
            try sink.write(UnsafeRawBufferPointer(rebasing: part[..<count]), at: offset)
            offset += Int64(count)
            call.progress?(offset - range.lowerBound)
        }
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        try call.cancellation.check(at: address)
        var size: Int64?
        try here("\(hash) cannot be looked for") { () throws(Errno) in
            do throws(Errno) {
                var status = Glibc.stat()
                try check { lstat(file(hash).cPath, &status) }
                size = Int64(status.st_size)
            } catch {
                guard error.code == ENOENT else { throw error }
            }
        }
        if size == nil { try requireStore() }
        return size
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        try call.cancellation.check(at: address)
        try here("\(hash) cannot be removed") { () throws(Errno) in
            do throws(Errno) { try check { unlink(file(hash).cPath) } } catch {
                guard error.code == ENOENT else { throw error }
            }
        }
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try requireStore()
        var page = BlobPage(blobs: [], isLast: true)
        let start = hash?.description ?? ""
        var folders: [String] = []
        try here("the folder cannot be listed") { () throws(Errno) in
            folders = try Directories.names(in: path)
        }
        for folder in folders.sorted() where folder.utf8.count == 2 && folder >= start.prefix(2) {
            try call.cancellation.check(at: address)
            var names: [String] = []
            try here("\(folder) cannot be listed") { () throws(Errno) in
                do throws(Errno) { names = try Directories.names(in: path + "/" + folder) } catch {
                    // A file that somebody else has put there.
                    if error.code != ENOTDIR { throw error }
                }
            }
            for name in names.sorted() where name > start && name.hasPrefix(folder) {
                guard let found = ContentHash(name: name) else { continue }
                if page.blobs.count == limit {
                    page.isLast = false
                    return page
                }
                // Removed meanwhile, or not.
                guard let size = try stat(found, call) else { continue }
                page.blobs.append(Blob(hash: found, size: size))
            }
        }
        return page
    }

    // MARK: The folder itself

    func requireStore() throws(StoreError) {
        guard access(mark.cPath, F_OK) != 0 else { return }
        throw StoreError(
            .unreachable, at: address,
            "this is no content store now (no file shapeedit-store): is its disk mounted?")
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        var names: [String] = []
        try here("the folder incoming cannot be listed") { () throws(Errno) in
            names = try Directories.names(in: incoming)
        }
        for name in names {
            try call.cancellation.check(at: address)
            // A hash, for something made of it the kind, and a serial number.
            guard let hash = ContentHash(name: name.prefix(64)),
                try isAbandoned(Remnant(hash: hash, name: name, isResumable: false))
            else { continue }
            unlink((incoming + "/" + name).cPath)
        }
    }

    func nextSerial() -> String {
        serial.withLock { serial in
            serial &+= 1
            return String(serial, radix: 16)
        }
    }

    private func removeAbandoned() {
        let now = WallClock.now.seconds
        for name in (try? Directories.names(in: incoming)) ?? [] {
            var status = Glibc.stat()
            let file = incoming + "/" + name
            guard lstat(file.cPath, &status) == 0,
                Int64(status.st_mtim.tv_sec) < now - Self.abandonedAfter
            else { continue }
            unlink(file.cPath)
        }
    }

    /// Runs file operations in the folder and says in the store's words what went wrong.
    func here(_ doing: String, _ body: () throws(Errno) -> Void) throws(StoreError) {
        do throws(Errno) { try body() } catch {
            let kind: StoreError.Kind =
                switch error.code {
                case ENOSPC, EDQUOT: .full
                case EACCES, EPERM, EROFS: .denied
                case ETIMEDOUT: .timedOut
                default: .unreachable
                }
            throw StoreError(kind, at: address, "\(doing): \(error)")
        }
    }
}
