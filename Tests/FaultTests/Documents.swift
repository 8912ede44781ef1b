import Glibc
import Probing
import TestSupport
import Testing

/// Documents in a container on a small disk, and what each has to contain.
final class Documents {
    /// Documents that were there before the disk was filled.
    private(set) var oldOnes: [String: [UInt8]] = [:]
    /// Whether `remount` was called.
    private(set) var wasRemounted = false

    private let container: Container
    private let options: [String]
    private var agent: Agent
    private var fillings: [String: [UInt8]] = [:]
    private var fillingCount = 0

    init(container: Container, options: [String]) throws {
        self.container = container
        self.options = options
        agent = try Agent(in: container.mountPoint)
    }

    /// Bytes that belong to one name and size.
    static func content(name: String, size: Int) -> [UInt8] {
        let line = Array("\(name) of \(size) bytes\n".utf8)
        var content: [UInt8] = []
        content.reserveCapacity(size + line.count)
        while content.count < size { content += line }
        return Array(content.prefix(size))
    }

    /// Stores documents from 1 byte to 3 MiB.
    func storeOldOnes() {
        for size in [1, 100, 4096, 70_000, 400_000, 3 << 20] {
            let name = "old-\(size)"
            let content = Self.content(name: name, size: size)
            #expect(failureOfStoring(name, content) == nil)
            oldOnes[name] = content
        }
    }

    /// Gives every old document a new version; there has to be room for it.
    func rewriteOldOnes() {
        for (name, content) in oldOnes {
            let changed = Self.content(name: name + "+", size: content.count + 10)
            #expect(failureOfStoring(name, changed) == nil, "rewriting \(name)")
            oldOnes[name] = changed
        }
    }

    /// Stores files, ever smaller, until there is no room for a single block.
    func fillDisk() {
        for size in [1 << 20, 65_536, 4096, 1] {
            for _ in 0..<300 {
                fillingCount += 1
                let name = "filling-\(fillingCount)"
                let content = Self.content(name: name, size: size)
                let failure = failureOfStoring(name, content)
                if failure == nil {
                    fillings[name] = content
                } else {
                    #expect(failure == ENOSPC, "\(name): \(errorName(failure ?? 0))")
                    // What could not be stored may have left its name, as on ext4.
                    try? CarefulCalls(agent).remove(name)
                    break
                }
            }
        }
        #expect(fillings.count > 10)
    }

    /// What grows and is no content.
    enum Growth: CaseIterable, Sendable {
        /// Files without a byte, as a program makes them that goes on with the next file where it could not
        /// write one.
        case names
        /// Attributes of the old documents, of a page each.
        case attributes
    }

    /// Makes more of it until there is no room even for that; how many there are then.
    func fill(with growth: Growth, most: Int, in folder: String) throws -> Int {
        let step =
            switch growth {
            case .names:
                #"os.close(os.open("\#(folder)/%06d" % number + "n" * 200, os.O_CREAT | os.O_WRONLY))"#
            case .attributes:
                #"os.setxattr(old[number % len(old)], "user.\#(folder).%d" % number, b"x" * 4000)"#
            }
        let script = """
            import errno, glob, os
            old = glob.glob("old-*")
            number = 0
            try:
                os.mkdir("\(folder)")
                while number < \(most):
                    \(step)
                    number += 1
            except OSError as error:
                if error.errno != errno.ENOSPC: raise
            print(number)
            """
        let made = try run(["python3", "-c", script], directory: container.mountPoint)
        return Int(made.text.filter(\.isNumber)) ?? 0
    }

    /// Deletes what filled the disk but for some files; how many bytes that was.
    func removeFillings(keeping kept: Int) -> Int {
        var bytes = 0
        for (name, content) in fillings.sorted(by: { $0.value.count < $1.value.count })
            .dropFirst(kept)
        {
            agent.unlink(ByteString(name))
            fillings[name] = nil
            bytes += content.count
        }
        return bytes
    }

    /// Tries to store files of 1 MiB until all are there, or for 60 s; when the last attempt began
    /// that found no room. How long the storing itself takes does not count.
    func secondsUntilStored(_ name: String, size: Int) -> Double {
        let parts = stride(from: 0, to: size, by: 1 << 20).map { offset in
            let part = "\(name)-\(offset)"
            return (name: part, content: Self.content(name: part, size: 1 << 20))
        }
        let clock = ContinuousClock()
        let start = clock.now
        var waited = Duration.zero
        for part in parts {
            while true {
                let beginning = clock.now - start
                guard let failure = failureOfStoring(part.name, part.content) else { break }
                // Whatever else it is, it is not for want of room.
                #expect(failure == ENOSPC, "\(part.name): \(errorName(failure))")
                waited = beginning
                if waited > .seconds(60) { return waited / .seconds(1) }
                usleep(50_000)
            }
            fillings[part.name] = part.content
        }
        return waited / .seconds(1)
    }

    /// Compares everything that was acknowledged with what is there.
    func verify(_ moment: String, at location: SourceLocation = #_sourceLocation) {
        for (name, content) in oldOnes.merging(fillings, uniquingKeysWith: { old, _ in old }) {
            switch CarefulCalls(agent).content(name) {
            case .success(content): break
            case .success(let found):
                let found = found.map { "\($0.count) bytes" } ?? "no file"
                Issue.record(
                    "\(moment): \(name): \(found) instead of \(content.count)",
                    sourceLocation: location)
            case .failure(let failure):
                Issue.record("\(moment): \(name): \(failure)", sourceLocation: location)
            }
        }
    }

    /// Unmounts and mounts again.
    func remount() throws {
        wasRemounted = true
        agent.end()
        try container.unmount()
        try container.mount(options: options)
        agent = try Agent(in: container.mountPoint)
    }

    /// Kills the daemon and mounts again.
    func crash() throws {
        wasRemounted = true
        agent.end()
        try container.killDaemon()
        try container.mount(options: options)
        agent = try Agent(in: container.mountPoint)
    }

    /// Lets the process end that does all this.
    func end() {
        agent.end()
    }

    /// Writes a file; the errno of the first call that failed.
    func failureOfStoring(
        _ name: String, _ content: [UInt8], flags: Int32 = O_TRUNC, synchronizing: Bool = false
    ) -> Int32? {
        do {
            try CarefulCalls(agent).store(
                name, content, flags: flags, synchronizing: synchronizing)
            return nil
        } catch {
            return error.error
        }
    }
}

extension SmallDisk {
    /// Gives a test a mounted container on this disk, which is given back; before that the container has to be
    /// sound.
    func withDocuments(_ dataPath: DataPath, _ body: (Documents) throws -> Void) throws {
        defer { remove() }
        let container = try Container(dataHome: mountPoint)
        defer { container.remove() }
        let options = dataPath == .noPassthrough ? ["no_passthrough"] : []
        try container.mount(options: options)
        let daemon = try #require(try container.status().pid)
        let documents = try Documents(container: container, options: options)
        defer { documents.end() }
        try body(documents)
        documents.end()
        #expect(Container.isAlive(daemon) || documents.wasRemounted, "the daemon died")
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "container check: \(check)")
    }
}
