import Catalog
import Content
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

/// Each system call, and each step of an SQL statement, fails once: what was acknowledged stays,
/// nothing is half, and the container goes on working.
@Suite(.serialized)
struct SingleFaultTests {
    /// What the documents may hold afterwards: the last acknowledged content, or one that was being
    /// written later.
    private struct Expectation {
        var acknowledged: [UInt8]?
        var possible: [[UInt8]] = []
    }

    private static func content(_ version: Int) -> [UInt8] {
        Array(repeating: UInt8(truncatingIfNeeded: version), count: 3_000 + version)
    }

    /// Saves, replaces, renames and removes; says what has to be there.
    private func work(_ container: InsideContainer, _ expected: inout [String: Expectation]) {
        var version = 0
        func save(_ name: String, synchronize: Bool = false) {
            version += 1
            let bytes = Self.content(version)
            expected[name, default: Expectation()].possible.append(bytes)
            do throws(Errno) {
                try container.save(name, bytes, synchronize: synchronize)
                expected[name]?.acknowledged = bytes
                expected[name]?.possible = [bytes]
            } catch {}
        }
        for name in ["a", "b", "c"] { save(name) }
        save("a", synchronize: true)
        save("b")
        save("t")
        if (try? container.rename("t", to: "b")) != nil {
            expected["b"] = expected["t"]
            expected["t"] = nil
        } else {
            let maybe = expected["t"]?.possible ?? []
            expected["b"]?.possible += maybe
            expected["t"]?.acknowledged = nil
        }
        try? container.remove("c")
        expected["c"] = nil
        container.settle()
        save("a")
        save("d", synchronize: true)
        container.settle()
    }

    private func verify(_ path: String, _ expected: [String: Expectation], _ fault: String) throws {
        let container = try InsideContainer(path)
        for (name, expectation) in expected {
            let found = try container.read(name)
            guard let acknowledged = expectation.acknowledged else { continue }
            let bytes = try #require(found, "\(name) is lost after \(fault)")
            #expect(
                bytes == acknowledged || expectation.possible.contains(bytes),
                "\(name) is torn or old after \(fault): \(bytes.count) bytes")
        }
        try container.save("afterwards", Self.content(99))
        #expect(try container.read("afterwards") == Self.content(99))
        container.close()
        let report = try ContainerCheck.run("test", at: path)
        let damage = report.findings.filter { !$0.repaired }.map(\.problem)
        #expect(damage.isEmpty, "\(damage) after \(fault)")
    }

    @Test func `a save that a full disk refused leaves the version before`() throws {
        var (count, refused) = (0, 0)
        var consumed = true
        while consumed, count < 200 {
            count += 1
            try InsideContainer.withFolder { path in
                let container = try InsideContainer(path)
                try container.save("a", Self.content(1))
                container.settle()
                FaultInjection.arm(after: count, error: ENOSPC)
                var failure: Errno?
                do throws(Errno) { try container.save("a", Self.content(2)) } catch {
                    failure = error
                }
                consumed = FaultInjection.left == 0
                FaultInjection.arm(after: 0, error: 0)
                let found = try container.read("a")
                if let failure {
                    refused += failure.code == ENOSPC ? 1 : 0
                    #expect(found == Self.content(1), "\(failure) at call \(count)")
                } else {
                    #expect(found == Self.content(2), "no error, call \(count)")
                }
                container.close()
                let report = try ContainerCheck.run("test", at: path)
                #expect(report.findings.map(\.problem) == [], "call \(count)")
            }
        }
        #expect(refused > 0)
    }

    @Test(arguments: [EIO, ENOSPC])
    func `any one system call may fail`(error: Int32) throws {
        var count = 0
        var consumed = true
        while consumed, count < 600 {
            count += 1
            try InsideContainer.withFolder { path in
                var expected: [String: Expectation] = [:]
                let container = try InsideContainer(path)
                FaultInjection.arm(after: count, error: error)
                work(container, &expected)
                consumed = FaultInjection.left == 0
                FaultInjection.arm(after: 0, error: 0)
                container.close()
                try verify(path, expected, "system call \(count) failed with error \(error)")
            }
        }
        #expect(count > 50, "the work has only \(count) system calls")
    }

    @Test(arguments: StatementFaults.Code.allCases)
    func `any one step of a statement may fail`(code: StatementFaults.Code) throws {
        // Every step fails in one of the ways.
        let codes = StatementFaults.Code.allCases
        var count = (codes.firstIndex(of: code) ?? 0) + 1 - codes.count
        var consumed = true
        while consumed, count < 400 {
            count += codes.count
            try InsideContainer.withFolder { path in
                var expected: [String: Expectation] = [:]
                let container = try InsideContainer(path)
                StatementFaults.arm(after: count, code: code, database: path + "/catalog.sqlite")
                work(container, &expected)
                consumed = StatementFaults.left == 0
                StatementFaults.disarm()
                container.close()
                try verify(path, expected, "statement step \(count) failed with \(code)")
            }
        }
        #expect(count > 20, "the work has only \(count) steps")
    }

    /// A container as a loss of power leaves it: of `a` the first version is known to be on the disk, in
    /// a file that has no hash yet, and the second is not.
    private func losePower(_ path: String, to lost: String) throws {
        let container = try InsideContainer(path)
        defer { container.close() }
        try container.save("a", Self.content(1))
        var moment = Timestamp(WallClock.now).successor.rawValue.littleEndian
        let durable = withUnsafeBytes(of: &moment) { Array($0) }
        try OwnedDescriptor.open(path + "/durable", O_RDWR | O_CREAT, mode: 0o600)
            .write(durable, at: 0)
        usleep(1_000)
        try container.save("a", Self.content(2))
        try copy(path, lost)
        let catalog = try CatalogDatabase(path: lost + "/catalog.sqlite", create: false)
        try catalog.setMeta("boot", "another")
        catalog.close()
    }

    private func copy(_ folder: String, _ other: String) throws {
        try Directories.removeTree(other)
        try #require(system("cp -a '\(folder)' '\(other)'") == 0)
    }

    /// Has a folder to copy a container from that has lost its power, and one to copy it to.
    private func afterPowerLoss(_ body: (_ lost: String, _ again: String) throws -> Void) throws {
        try InsideContainer.withFolder { path in
            let (lost, again) = (path + "-lost", path + "-again")
            var isLost = false
            // On a slow machine the disk may have been synchronized once more meanwhile.
            for attempt in 0..<5 where !isLost {
                try losePower(path + "-\(attempt)", to: lost)
                try copy(lost, again)
                let container = try InsideContainer(again)
                isLost = try container.read("a") == Self.content(1)
                container.close()
            }
            try #require(isLost)
            try body(lost, again)
        }
    }

    @Test(arguments: [EIO, ENOMEM])
    func `what recovery cannot read for a moment is not given up`(error: Int32) throws {
        try afterPowerLoss { lost, again in
            try failEachCall(error, opening: lost, again)
        }
    }

    @Test(arguments: [EIO, ENOMEM])
    func `a crash is not taken for a loss of power`(error: Int32) throws {
        try InsideContainer.withFolder { path in
            let (crashed, again) = (path + "-crashed", path + "-again")
            let container = try InsideContainer(path)
            try container.save("a", Self.content(1))
            try copy(path, crashed)
            container.close()
            try failEachCall(error, opening: crashed, again)
        }
    }

    @Test(arguments: [EIO, ENOMEM])
    func `what may have been of a lost journal is set aside, whatever call fails`(error: Int32)
        throws
    {
        try InsideContainer.withFolder { path in
            let (crashed, again) = (path + "-crashed", path + "-again")
            let container = try InsideContainer(path)
            try container.save("a", Self.content(1))
            container.settle()
            try copy(path, crashed)
            container.close()
            try Directories.removeTree(crashed + "/journal")
            let blob = ContentHash(word0: 1, word1: 2, word2: 3, word3: 4).description
            try Directories.make(crashed + "/blobs/" + blob.prefix(2))
            for file in ["staging/00000000000fff01", "blobs/\(blob.prefix(2))/\(blob)"] {
                try OwnedDescriptor.open("\(crashed)/\(file)", O_RDWR | O_CREAT, mode: 0o600)
                    .write([1, 2, 3], at: 0)
            }
            try failEachCall(error, opening: crashed, again) { call, said in
                #expect(
                    said.contains("folder `lost`, without names: 2 contents"),
                    "when call \(call) failed: \(said)")
                let names = (try? Directories.names(in: again + "/lost")) ?? []
                #expect(names.count == 2, "\(names) when call \(call) failed")
            }
        }
    }

    /// Lets each system call of an opening fail in its turn; the next opening finds all that was there.
    ///
    /// - Parameters:
    ///   - folder: of the container, which is copied for each.
    ///   - again: where to.
    ///   - look: is shown which call had failed and what the openings said, when the container is closed.
    private func failEachCall(
        _ error: Int32, opening folder: String, _ again: String,
        look: (Int, String) -> Void = { _, _ in }
    ) throws {
        var count = 0
        var consumed = true
        while consumed, count < 400 {
            count += 1
            try copy(folder, again)
            FaultInjection.arm(after: count, error: error)
            let failed = try? InsideContainer(again)
            consumed = FaultInjection.left == 0
            FaultInjection.arm(after: 0, error: 0)
            failed?.close()
            let container = try InsideContainer(again)
            #expect(try container.read("a") == Self.content(1), "call \(count) failed")
            container.close()
            let said = [failed, container].compactMap { $0?.recovered?.description }
            look(count, said.joined(separator: ", "))
            let report = try ContainerCheck.run("test", at: again)
            #expect(report.findings.map(\.problem) == [], "call \(count) failed")
        }
        #expect(count > 20, "an opening has only \(count) calls")
    }

    @Test func `recovery that fails at any step takes nothing from the next one`() throws {
        try afterPowerLoss { lost, again in
            var count = 0
            var consumed = true
            while consumed, count < 400 {
                count += 1
                try copy(lost, again)
                StatementFaults.arm(
                    after: count, code: .inputOutput, database: again + "/catalog.sqlite")
                let failed = try? InsideContainer(again)
                consumed = StatementFaults.left == 0
                StatementFaults.disarm()
                failed?.close()
                let container = try InsideContainer(again)
                #expect(try container.read("a") == Self.content(1), "step \(count) failed")
                container.close()
                let report = try ContainerCheck.run("test", at: again)
                #expect(report.findings.map(\.problem) == [], "step \(count) failed")
            }
            #expect(count > 20, "an opening has only \(count) steps")
        }
    }

    @Test func `a container whose making failed at any step can be made`() throws {
        var count = 0
        var consumed = true
        while consumed, count < 400 {
            count += 1
            try InsideContainer.withFolder { path in
                StatementFaults.arm(after: count, code: .full)
                let isMade = (try? Container.create("test", at: path)) != nil
                consumed = StatementFaults.left == 0
                StatementFaults.disarm()
                if !isMade { try Container.create("test", at: path) }
                let report = try ContainerCheck.run("test", at: path)
                #expect(report.findings.map(\.problem) == [], "step \(count) failed")
            }
        }
        #expect(count > 20, "the making has only \(count) steps")
    }

    @Test func `a copy that cannot be told where data is fails, and has no zeros for it`() throws {
        try InsideContainer.withFolder { path in
            try Directories.make(path)
            let (one, other) = (path + "/one", path + "/other")
            let source = try OwnedDescriptor.open(one, O_RDWR | O_CREAT, mode: 0o600)
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            try source.write(bytes, at: 0)
            var count = 0
            var consumed = true
            while consumed, count < 100 {
                count += 1
                let target = try OwnedDescriptor.open(
                    other, O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
                FaultInjection.arm(after: count, error: EIO)
                let size = Int64(bytes.count)
                let isCopied = (try? target.copyContent(of: source, size: size)) != nil
                consumed = FaultInjection.left == 0
                FaultInjection.arm(after: 0, error: 0)
                #expect(isCopied == !consumed, "system call \(count) failed")
                if isCopied { #expect(try WholeFile.read(target) == bytes) }
            }
        }
    }

    @Test func `packs stay as long as what was in them may not be on the disk`() throws {
        try InsideContainer.withFolder { path in
            let folder = ContainerFolder(path: path)
            try folder.make(isNew: true)
            let content = LocalContent(folder: folder)
            let node = NodeNumber(ItemNumber(rawValue: 2), 1)
            try #require(content.beginPacked(node), "the disk is nearly full")
            let room = [UInt8](repeating: 0, count: PackedContents.header)
            #expect(content.writePacked(room + [1, 2, 3], at: 0, to: node))
            try content.record(node)
            try content.spill(node)
            for call in 1...2 {
                FaultInjection.arm(after: call, error: EMFILE)
                content.removeUnusedPacks(ending: true, isSettled: true)
                FaultInjection.arm(after: 0, error: 0)
                #expect(try Directories.names(in: folder.packs) == ["1"], "call \(call) failed")
            }
        }
    }
}
