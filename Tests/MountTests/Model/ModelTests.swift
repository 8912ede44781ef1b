import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Random operations on a mount and on an ordinary directory beside it.
@Suite(.oneAtATime, .enabled(if: DataPath.isPrivileged, "changes owners"))
struct ModelTests {
    /// $SHAPEEDIT_TEST_STEPS, or 3,000.
    private static var steps: Int {
        getenv("SHAPEEDIT_TEST_STEPS").flatMap { Int(String(cString: $0)) } ?? 3000
    }

    @Test(arguments: DataPath.posix)
    func `random operations do the same as on the disk's file system`(
        _ dataPath: DataPath
    ) throws {
        let seed = Seed.next("model on \(dataPath)")
        let reference = try TemporaryDirectory.make(below: DataPath.plainDirectory)
        defer { TemporaryDirectory.remove(reference) }
        try withVolume(dataPath) { volume in
            var pair = ModelPair(
                tested: try volume.agent(), reference: try Agent(in: reference), seed: seed)
            for _ in 0..<Self.steps where pair.difference == nil { pair.step() }
            pair.closeAll()
            pair.compareTrees(by: try volume.agent())
            if pair.difference == nil {
                try volume.remount()
                pair.compareTrees(by: try volume.agent())
            }
            if let difference = pair.difference {
                Issue.record("\(difference)\nseed \(seed), last steps:\n\(pair.history)")
            }
            pair.reference.end()
        }
    }
}

/// The two file systems and what is open on both.
private struct ModelPair {
    let tested: Agent
    let reference: Agent
    /// What was found to be different first.
    private(set) var difference: String?

    private var random: SplitMix
    private var open: [Int] = []
    private var log: [String] = []

    init(tested: Agent, reference: Agent, seed: UInt64) {
        self.tested = tested
        self.reference = reference
        random = SplitMix(seed: seed)
    }

    /// The last steps, for messages.
    var history: String { log.suffix(25).joined(separator: "\n") }

    mutating func step() {
        let step = ModelStep.random(&random, open: open)
        let (found, expected) = perform(step)
        log.append("\(log.count): \(step) -> \(outcome(expected))")
        if found.result != expected.result {
            difference = "\(step): \(outcome(found)) instead of \(outcome(expected))"
        } else if found.buffers.map({ $0.prefix(max(0, found.result)) })
            != expected.buffers.map({ $0.prefix(max(0, expected.result)) })
        {
            difference = "\(step): other bytes"
        }
        if step.isOpening && found.result >= 0 { open.append(found.result) }
        if step.description.hasPrefix("close") {
            open.removeAll { step.description == "close \($0)" }
        }
        for path in step.paths where difference == nil { compareStatus(path) }
        if open.count > 6 { close(open.removeFirst()) }
        if let file = open.randomElement(using: &random) { compareDescriptors(file) }
        if log.count % 250 == 0 { compareTrees(by: tested) }
    }

    mutating func closeAll() {
        for file in open { close(file) }
        open = []
    }

    private func perform(_ step: ModelStep) -> (Reply, Reply) {
        (tested.ask(step.description, step.request), reference.ask(step.description, step.request))
    }

    private func outcome(_ reply: Reply) -> String {
        reply.result < 0 ? errorName(Int32(-reply.result)) : "\(reply.result)"
    }

    private func close(_ file: Int) {
        tested.close(Descriptor(file))
        reference.close(Descriptor(file))
    }

    // MARK: Comparing

    private mutating func compareStatus(_ path: ByteString) {
        let anything: [Int32] = [0, ENOENT, ENOTDIR, ELOOP]
        let found = tested.anyStatus(path, anything)
        let expected = reference.anyStatus(path, anything)
        if comparable(found) != comparable(expected) {
            difference = "status of \(path): \(found) instead of \(expected)"
        }
    }

    private mutating func compareDescriptors(_ file: Int) {
        guard difference == nil else { return }
        let found = tested.status(Descriptor(file))
        let expected = reference.status(Descriptor(file))
        if comparable(found) != comparable(expected) {
            difference = "fstat of \(file): \(found) instead of \(expected)"
        }
    }

    /// Without what differs between any two file systems.
    private func comparable(_ status: FileStatus) -> FileStatus {
        var status = status
        status.device = 0
        status.inode = 0
        status.blocks = 0
        status.accessed = 0
        status.modified = 0
        status.changed = 0
        if status.isDirectory { status.size = 0 }
        return status
    }

    mutating func compareTrees(by agent: Agent) {
        var items: [Int: Int] = [:]
        compareDirectory(".", agent, &items)
    }

    private mutating func compareDirectory(
        _ path: ByteString, _ agent: Agent, _ items: inout [Int: Int]
    ) {
        let names = reference.names(path)
        let found = agent.names(path)
        if found != names { difference = difference ?? "names in \(path): \(found), not \(names)" }
        for name in names where difference == nil {
            let entry = path + "/" + ByteString(name)
            let expected = reference.status(entry, following: false)
            let status = agent.status(entry, following: false)
            if comparable(status) != comparable(expected) {
                difference = "status of \(entry): \(status) instead of \(expected)"
            }
            // Names of one item here are names of one item there.
            if items.updateValue(status.inode, forKey: expected.inode) ?? status.inode
                != status.inode
            {
                difference = "\(entry) is another item than its link"
            }
            if expected.isDirectory {
                compareDirectory(entry, agent, &items)
            } else if expected.isLink {
                if agent.readLink(entry) != reference.readLink(entry) {
                    difference = "target of \(entry)"
                }
            } else if expected.isFile {
                compareFile(entry, agent)
            }
        }
    }

    private mutating func compareFile(_ path: ByteString, _ agent: Agent) {
        let (found, expected) = (agent.content(path), reference.content(path))
        if found != expected {
            let place = zip(found.bytes, expected.bytes).enumerated().first { $1.0 != $1.1 }?.offset
            difference =
                "content of \(path): \(found.count) and \(expected.count) bytes, "
                + "different at \(place.map { "\($0)" } ?? "the end")"
        }
        let names = reference.ownAttributeNames(path)
        if agent.ownAttributeNames(path) != names { difference = "attributes of \(path)" }
        for name in names {
            let name = ByteString(name)
            if agent.attribute(path, name) != reference.attribute(path, name) {
                difference = "attribute \(name) of \(path)"
            }
        }
    }
}

extension Agent {
    /// The status of a path, or all -1 if it fails in one of the usual ways.
    fileprivate func anyStatus(_ path: ByteString, _ errors: [Int32]) -> FileStatus {
        let request = Request.call(
            number: Int(SYS_newfstatat),
            arguments: [
                .integer(Int(AT_FDCWD)), .input(path.bytes), .output(MemoryLayout<stat>.size),
                .integer(Int(AT_SYMLINK_NOFOLLOW)),
            ], onNewThread: false)
        let reply = ask("stat \(path)", request)
        judge("stat \(path)", reply, fails: reply.result == 0 ? [] : errors, at: #_sourceLocation)
        return reply.result == 0 ? FileStatus(raw: reply.buffers.first ?? []) : FileStatus()
    }
}
