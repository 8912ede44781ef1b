import Catalog
import Coordination
import Glibc
import Logging
import Model
import Stores
import SystemCalls
import Testing

@testable import FileSystem

/// A container in a temporary folder, used through its volume without a mount: the operations that
/// the kernel would ask for, in this process, so that their system calls can be made to fail.
final class InsideContainer {
    let path: String
    private let container: Container
    let volume: Volume
    private let tree: VirtualTree
    let caller = Caller(user: geteuid(), group: getegid(), thread: getpid())
    private let root = NodeNumber(.root, 0)
    private var isClosed = false

    /// Runs `body` with the path of a container that is not there yet.
    static func withFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/shapeedit-volume.XXXXXX".utf8CString)
        let path = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? Directories.removeTree(path) }
        try body(path + "/container")
    }

    /// Opens the container in `path`, making it first if it is not there.
    ///
    /// - Parameters:
    ///   - hasPictures: whether there are pictures, of which none is drawn.
    ///   - hasSources: whether documents can be imported.
    ///   - capacity: names that there is to be address space for.
    ///   - items: the same of items, where they are not to be as many.
    init(
        _ path: String, hasPictures: Bool = false, hasSources: Bool = false,
        capacity: Int = MemoryIndex.usualCapacity, items: Int? = nil
    ) throws {
        self.path = path
        if access(path + "/catalog.sqlite", F_OK) != 0 {
            try Container.create("test", at: path)
        }
        container = try Container(
            "test", at: path, holder: "in use by a test", capacity: capacity, items: items)
        volume = Volume(container: container)
        if hasPictures {
            volume.showPictures(PictureOptions(program: "/nonexistent", desktop: []))
        }
        if hasSources {
            volume.connectSources(StoreSettings(), logger: Logger(label: "test"))
        }
        tree = VirtualTree(volume)
        volume.followQueries(tree)
        volume.start()
    }

    /// The volume's threads do not keep it: one that goes on without it ends the process.
    deinit { close() }

    func close() {
        if isClosed { return }
        isClosed = true
        volume.stop()
        container.close()
    }

    /// Writes the document whole, as `open(O_TRUNC|O_CREAT)`, write, close do.
    ///
    /// - Parameters:
    ///   - pause: how long the kernel lets go of the file after the close, in microseconds.
    ///   - isReleased: whether the kernel tells that it has.
    func save(
        _ name: String, _ bytes: [UInt8], synchronize: Bool = false, pause: UInt32 = 0,
        isReleased: Bool = true
    ) throws(Errno) {
        let (node, handle) = try open(name)
        try write(
            bytes, node, handle, synchronize: synchronize, pause: pause, isReleased: isReleased)
    }

    /// Writes at the beginning of a document that is open, and closes it; as ``save``.
    func write(
        _ bytes: [UInt8], _ node: NodeNumber, _ handle: Handle, synchronize: Bool = false,
        pause: UInt32 = 0, isReleased: Bool = true
    ) throws(Errno) {
        var released = false
        defer { if !released { volume.release(node, handle) } }
        let (file, session) = try volume.writable(node, handle)
        do throws(Errno) {
            try file.with { (file) throws(Errno) in
                var problem: Errno?
                bytes.withUnsafeBytes { buffer in
                    do throws(Errno) { try file.write(buffer, at: 0) } catch { problem = error }
                }
                if let problem { throw problem }
            }
        } catch {
            volume.failed(session, error)
            throw error
        }
        volume.wrote(session, handle, by: 0) {}
        if synchronize { try volume.synchronize(node, handle) }
        try volume.flush(node, handle, owner: 0, by: 0) {}
        if pause > 0 { usleep(pause) }
        released = true
        if isReleased { volume.release(node, handle) }
    }

    /// Opens the document to write it, emptied.
    func open(_ name: String, flags: Int32 = O_WRONLY | O_TRUNC) throws(Errno) -> (
        NodeNumber, Handle
    ) {
        if let node = try find(name) {
            // As the VFS does: the first open of a version is sent round.
            for _ in 0..<2 {
                let target = try find(name) ?? node
                let result = Received<Opened>()
                volume.open(target, flags: flags, caller) { result.set($0) }
                switch result.wait() {
                case .success(let opened): return (target, opened.handle)
                case .failure(let error) where error.code == ESTALE: continue
                case .failure(let error): throw error
                }
            }
            throw Errno(ESTALE)
        }
        return try make(name, O_WRONLY)
    }

    /// Makes a document at the root and opens it, as the kernel does by a name that it takes for free.
    @discardableResult
    func make(_ name: String, _ flags: Int32) throws(Errno) -> (NodeNumber, Handle) {
        let (entry, opened) = try withName(name) { (bytes) throws(Errno) in
            try volume.create(root, bytes, mode: 0o644, flags: flags, caller)
        }
        return (NodeNumber(rawValue: entry.node), opened.handle)
    }

    /// Empties the document as truncate(2) does.
    func truncate(_ name: String) throws(Errno) {
        for _ in 0..<2 {
            guard let node = try find(name) else { throw Errno(ENOENT) }
            let result = Received<Entry>()
            volume.set(node, nil, Settings(size: 0), caller) { result.set($0) }
            switch result.wait() {
            case .success: return
            case .failure(let error) where error.code == ESTALE: continue
            case .failure(let error): throw error
            }
        }
        throw Errno(ESTALE)
    }

    /// Opens the document at the root, or in a folder, as a thread of another process does; the errno that
    /// answers it, or 0. Nothing closes it.
    func open(_ name: String, _ flags: Int32, by thread: Int32, in folder: NodeNumber? = nil)
        throws(Errno) -> Int32
    {
        let other = Self.caller(of: thread)
        guard let node = try find(name, other, in: folder) else { return ENOENT }
        let result = Received<Opened>()
        volume.open(node, flags: flags, other) { result.set($0) }
        switch result.wait() {
        case .success: return 0
        case .failure(let error): return error.code
        }
    }

    /// Who asks by a thread of another process.
    static func caller(of thread: Int32) -> Caller {
        Caller(user: geteuid(), group: getegid(), thread: thread)
    }

    /// Grants the document to an application for writing.
    func grant(_ name: String, to application: String) throws(Errno) -> DocumentID {
        guard let node = try find(name) else { throw Errno(ENOENT) }
        try volume.setGrant(node, for: application[...], "write", caller)
        return try document(of: name)
    }

    /// Opens a granted document to write it as the application's daemon does by a thread of its own; the
    /// errno that answers it, or 0. Nothing closes it.
    func open(granted document: DocumentID, to application: String, by thread: Int32)
        throws(Errno) -> Int32
    {
        let other = Self.caller(of: thread)
        let answer = try volume.lookupGranted(
            document, for: application, shared: true, other, waited: true)
        guard case .done(let entry) = answer else { return EAGAIN }
        let result = Received<Opened>()
        volume.open(NodeNumber(rawValue: entry.node), flags: O_WRONLY, other) { result.set($0) }
        switch result.wait() {
        case .success: return 0
        case .failure(let error): return error.code
        }
    }

    /// Looks a name at the root up, or one in a folder, as the kernel does for a caller.
    func find(_ name: String, _ other: Caller? = nil, in folder: NodeNumber? = nil) throws(Errno)
        -> NodeNumber?
    {
        let answer = try withName(name) { (bytes) throws(Errno) in
            try volume.lookup(folder ?? root, bytes, other ?? caller, waited: true)
        }
        guard case .done(let entry) = answer, entry.node != 0 else { return nil }
        return NodeNumber(rawValue: entry.node)
    }

    /// The document's bytes; `nil` if there is none of this name.
    func read(_ name: String) throws(Errno) -> [UInt8]? {
        guard let node = try find(name) else { return nil }
        let handle = Handle(reads: true, writes: false, way: .cached, process: 0, serial: 0)
        guard let file = try volume.readable(node, handle) else { return [] }
        let size = Int(try file.status().size)
        var bytes = [UInt8](repeating: 0, count: size)
        try file.with { (file) throws(Errno) in
            var problem: Errno?
            bytes.withUnsafeMutableBytes { buffer in
                do throws(Errno) { _ = try file.read(into: buffer, at: 0) } catch {
                    problem = error
                }
            }
            if let problem { throw problem }
        }
        return bytes
    }

    /// Which document has a name at the root.
    func document(of name: String) throws(Errno) -> DocumentID {
        guard let node = try find(name) else { throw Errno(ENOENT) }
        return volume.state.withLock { state in
            DocumentID(rawValue: state.index[item: state.index.find(node.item)].pointee.document)
        }
    }

    /// Gives a node another name at the root.
    func link(_ node: NodeNumber, as name: String) throws(Errno) {
        _ = try withName(name) { (bytes) throws(Errno) in
            try volume.link(node, root, bytes, caller)
        }
    }

    /// Makes a folder at the root, or in another.
    @discardableResult
    func makeFolder(_ name: String, in parent: NodeNumber? = nil) throws(Errno) -> NodeNumber {
        let entry = try withName(name) { (bytes) throws(Errno) in
            try volume.make(
                parent ?? root, bytes, Volume.Blueprint(mode: S_IFDIR | 0o755), caller)
        }
        return NodeNumber(rawValue: entry.node)
    }

    /// Gives what has a name in a folder, or at the root, another name there, or in `folder`.
    ///
    /// - Parameter flags: of renameat2(2).
    func rename(
        _ name: String, to newName: String, from source: NodeNumber? = nil,
        in folder: NodeNumber? = nil, _ flags: UInt32 = 0
    ) throws(Errno) {
        let source = source ?? root
        _ = try withName(name) { (from) throws(Errno) in
            try withName(newName) { (to) throws(Errno) in
                try volume.rename(
                    source, from, folder ?? source, to, flags: flags, caller, waited: true)
            }
        }
    }

    func remove(_ name: String) throws(Errno) {
        _ = try withName(name) { (bytes) throws(Errno) in
            try volume.unlink(root, bytes, caller)
        }
    }

    /// What was recovered when it was opened; `nil` if it had been closed.
    var recovered: RecoveryReport? { container.recovered }

    /// The last change.
    var head: ChangeSequence { volume.log.head }

    /// What a query finds now, in its order.
    func found(_ query: Query) throws(Errno) -> [Found] {
        Selection(query).ordered(try volume.gather(query).found)
    }

    /// Follows a query until the container is closed.
    func follow(_ query: Query, _ follower: any QueryFollower) {
        #expect(volume.liveQueries?.follow(query, follower) != nil)
    }

    /// Takes a version from what is to be sealed, as the keeper does when it begins.
    func beginSealing(_ node: NodeNumber) {
        volume.state.withLock { state in
            _ = state.unsealed.remove(node)
            state.beginSealing(1)
        }
    }

    /// Makes everything durable now that the keeper would make durable in a few seconds.
    func settle() { _ = volume.keeper.makeRoom(.all) }

    /// Lists a folder below `.shapeedit` from an offset on, as the kernel does; where that goes on.
    func list(_ folder: String..., from offset: UInt64, atMost count: Int) throws(Errno)
        -> (names: [String], next: UInt64)
    {
        var node = try tree.top().node
        for part in folder { node = try tree.lookup(node, Array(part.utf8)).node }
        var (names, next) = ([String](), offset)
        try tree.list(node, from: offset, counted: false) { name, place, _ in
            if names.count == count { return false }
            names.append(name)
            next = place
            return true
        }
        return (names, next)
    }

    /// Looks at a document's picture, as the kernel does by its path, which may keep what it finds.
    func lookAtPicture(_ name: String) throws(Errno) {
        var node = try tree.top().node
        for part in ["thumbnails", "256", name + ".png"] {
            node = try tree.lookup(node, Array(part.utf8)).node
        }
    }

    /// Whether the kernel may still keep names of pictures that lead elsewhere by now, and nobody has it
    /// forget them.
    var keepsStalePictures: Bool {
        guard let stale = volume.pictures?.stale else { return false }
        var keeps = false
        if stale.take({ keeps = !$0.isEmpty }) { stale.end() }
        return keeps
    }

    private func withName<Result>(
        _ name: String, _ body: (UnsafeRawBufferPointer) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let kept = Kept(Array(name.utf8))
        defer { withExtendedLifetime(kept) {} }
        return try body(kept.bytes)
    }
}

/// A reply that may come from another thread.
private final class Received<Value>: @unchecked Sendable {
    // Unchecked because the monitor guards the value.
    private let state = Monitor<Result<Value, Errno>?>(nil)

    func set(_ result: Result<Value, Errno>) { state.signal { $0 = result } }

    func wait() -> Result<Value, Errno> {
        state.wait(until: MonotonicClock.after(milliseconds: 10_000)) { $0 }
            ?? .failure(Errno(ETIMEDOUT))
    }
}
