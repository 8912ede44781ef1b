import Catalog
import Content
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// What is on the disk when somebody is told that it is, while the keeper and other programs work.
@Suite(.serialized) struct SealingTests {
    private func place(_ node: NodeNumber, in container: InsideContainer) throws -> ContentPlace? {
        try container.volume.versionRow(node)?.place
    }

    @Test func `fsync of a version that is being sealed returns when it is on the disk`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1, 2, 3])
            let node = try #require(try container.find("a"))
            container.beginSealing(node)
            try container.volume.synchronize(node, nil)
            #expect(try place(node, in: container) == .durable)
            // What it has sealed meanwhile stays so.
            container.volume.state.withLock { $0.unsealed.publish(node, at: 0) }
            container.settle()
            #expect(try place(node, in: container) == .sealed)
            try container.volume.synchronize(node, nil)
            #expect(try place(node, in: container) == .sealed)
            #expect(try container.read("a") == [1, 2, 3])
        }
    }

    /// A mapping is written without the kernel's lock of the file, as this is.
    @Test func `what is written during an fsync does not count as on the disk`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let (node, handle) = try container.open("a")
            let (file, session) = try container.volume.writable(node, handle)
            defer { container.volume.release(node, handle) }
            // Much, so that it takes a while. How the machine shares its time out may hide it once.
            let much = [UInt8](repeating: 7, count: 48 << 20)
            var isLeftOut = false
            for _ in 0..<5 where !isLeftOut {
                try file.with { (file) throws(Errno) in try file.write(much, at: 0) }
                container.volume.wrote(session, handle, by: 0) {}
                let appending = Monitor((isWanted: true, isDone: false))
                Threads.start("appender") {
                    while appending.withLock({ $0.isWanted }) {
                        _ = try? file.with { (file) throws(Errno) in try file.append([1]) }
                    }
                    appending.signal { $0.isDone = true }
                }
                usleep(10_000)
                let before = try file.status().size
                try container.volume.synchronize(node, handle)
                let after = try file.status().size
                appending.withLock { $0.isWanted = false }
                let _: Bool? = appending.wait { $0.isDone ? true : nil }
                let synced = try #require(
                    container.volume.state.withLock { _ in session.synced }?.status.size)
                isLeftOut = synced - before < (after - before) / 4
            }
            #expect(isLeftOut)
            try container.volume.flush(node, handle, owner: 0, by: 0) {}
        }
    }

    @Test func `what is written right after an fsync does not count as on the disk`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let (node, handle) = try container.open("a")
            let (file, session) = try container.volume.writable(node, handle)
            for bytes: [UInt8] in [[1, 2, 3], [4, 5, 6]] {
                try file.with { (file) throws(Errno) in try file.write(bytes, at: 0) }
                container.volume.wrote(session, handle, by: 0) {}
                if bytes == [1, 2, 3] { try container.volume.synchronize(node, handle) }
            }
            // As on a disk that takes both for the same moment.
            let status = try file.status()
            container.volume.state.withLock { _ in session.synced?.status = status }
            container.volume.release(node, handle)
            #expect(try place(node, in: container) == .staged)
            #expect(try container.read("a") == [4, 5, 6])
        }
    }

    /// By a process that may open a version anew through /proc to write, the kernel has its file too.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `a version whose file is lent for writing is sealed when that has ended`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let volume = container.volume
            try container.save("a", [1, 2, 3])
            let node = try #require(try container.find("a"))
            let content = try #require(volume.state.withLock { $0.published(node) })
            guard try volume.content.freeze(content) else { throw Errno(EIO) }
            volume.state.withLock { $0.frozen.add(node) }
            container.settle()
            #expect(try place(node, in: container) == .staged)
            try volume.synchronize(node, nil)
            #expect(try place(node, in: container) == .durable)
            // Nor does anything else take it away, or let it be changed.
            let hash = try #require(try volume.content.hash(content)?.hash)
            #expect(throws: Errno(EPERM)) { try volume.content.seal(node, hash: hash) }
            #expect(throws: Errno(EPERM)) {
                _ = try OwnedDescriptor.open(volume.content.path(of: content), O_RDWR)
            }
            volume.state.withLock { $0.frozen.remove(node) }
            #expect(volume.content.thaw(content))
            container.settle()
            #expect(try place(node, in: container) == .sealed)
            #expect(try container.read("a") == [1, 2, 3])
        }
    }

    @Test func `who waits for room waits for a round that knows of it`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let volume = container.volume
            // Of saves one after the other all but the last go, in the course of a round.
            for byte: UInt8 in 1...3 { try container.save("a", [byte]) }
            let last = try #require(try container.find("a"))
            let first = NodeNumber(last.item, last.ordinal - 1)
            for node in [first, last] { volume.forget(node, 100) }
            // The kernel knows nothing of it: it can go at once.
            try volume.add("gone", in: "", [9])
            let gone = try #require(try container.find("gone"))
            volume.forget(gone, 1)
            let (held, released) = (Monitor(false), Monitor(false))
            Threads.start("in the way") {
                volume.blobs.withLock { _ in
                    held.signal { $0 = true }
                    let _: Bool? = released.wait { $0 ? true : nil }
                }
                released.signal { $0 = false }
            }
            let _: Bool? = held.wait { $0 ? true : nil }
            volume.keeper.wake()
            // It is recorded before the bytes go, for which the round has to wait.
            for _ in 0..<200 where try place(first, in: container) != nil { usleep(20_000) }
            #expect(try place(first, in: container) == nil)
            try container.remove("gone")
            Threads.start("release") {
                usleep(200_000)
                released.signal { $0 = true }
            }
            volume.keeper.makeRoom(.ofRemoved)
            #expect(volume.state.withLock { $0.index.find(gone.item) } == 0)
            let _: Bool? = released.wait { $0 ? nil : true }
        }
    }

    /// A disk that is full refuses a rename that makes its folder grow.
    @Test func `a version whose move among the blobs failed is moved by the next try`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let (node, blob) = try saved([1, 2, 3], in: container)
            let shelf = String(blob.dropLast(65))
            try Directories.make(container.volume.content.folder.blobs)
            #expect(close(creat(shelf, 0o600)) == 0)
            container.settle()
            #expect(access(blob, F_OK) != 0)
            #expect(try container.read("a") == [1, 2, 3])
            unlink(shelf)
            container.settle()
            #expect(try place(node, in: container) == .sealed)
            #expect(access(blob, F_OK) == 0)
            #expect(access(container.volume.content.folder.staging(node), F_OK) != 0)
        }
    }

    @Test func `a good copy stays where a damaged blob cannot be replaced`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            let (_, blob) = try saved([1, 2, 3], in: container)
            try Directories.make(blob)
            container.settle()
            rmdir(blob)
            #expect(try container.read("a") == [1, 2, 3])
            container.settle()
            #expect(access(blob, F_OK) == 0)
            #expect(try container.read("a") == [1, 2, 3])
        }
    }

    /// Recovery moves it among the blobs then; the catalog is asked whether it is to go there.
    @Test func `a catalog that does not answer costs no content whose move was cut off`() throws {
        var count = 0
        var isConsumed = true
        while isConsumed, count < 300 {
            count += 1
            try InsideContainer.withFolder { path in
                let container = try InsideContainer(path)
                let (node, blob) = try saved([1, 2, 3], in: container)
                container.settle()
                let folder = container.volume.content.folder
                container.close()
                #expect(rename(blob, folder.staging(node)) == 0)
                StatementFaults.arm(after: count, code: .inputOutput, database: folder.catalog)
                try? InsideContainer(path).close()
                isConsumed = StatementFaults.left == 0
                StatementFaults.disarm()
                let again = try InsideContainer(path)
                defer { again.close() }
                #expect(try again.read("a") == [1, 2, 3], "statement \(count)")
            }
        }
        #expect(count > 10)
    }

    /// Saves a document `a`. Returns its node, and where its content is to be when it is sealed.
    private func saved(_ bytes: [UInt8], in container: InsideContainer) throws -> (
        NodeNumber, String
    ) {
        try container.save("a", bytes)
        let node = try #require(try container.find("a"))
        let content = try #require(container.volume.state.withLock { $0.published(node) })
        let hash = try #require(try container.volume.content.hash(content)?.hash)
        return (node, container.volume.content.folder.blob(hash))
    }
}
