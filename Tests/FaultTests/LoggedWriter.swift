import CKernel
import Foundation
import Probing
import Synchronization
import TestSupport

/// A process that writes files as fast as it can and knows what was acknowledged.
///
/// The process is an agent, so it goes on when the daemon dies; its thread here keeps the log,
/// which is thereby outside the mount.
final class LoggedWriter: @unchecked Sendable {
    // Sendable because `start` hands it to one thread and `join` takes it back.

    /// How many files a writer has.
    static let fileCount = 12

    /// What an acknowledged change survives.
    enum Survival {
        /// The death of the daemon: all that returned.
        case daemon
        /// The loss of power: what fsync() returned for.
        case power
    }

    /// The call that ended the last run.
    private var ending: CallFailure?
    /// The same, for those who ask while it runs.
    private let published = Mutex<CallFailure?>(nil)
    /// Acknowledgements of the last run.
    var acknowledgements: Int { acknowledged.withLock { $0 } }
    private let acknowledged = Mutex(0)
    private let files = Mutex<[FileName: FileHistory]>([:])
    private let survival: Survival

    let agent: Agent
    private let number: Int
    private let mountPoint: String
    private var random: SplitMix
    private var version = 0
    private var finished = DispatchSemaphore(value: 0)

    /// A writer below a container's mount point.
    init(
        number: Int, container: Container, seed: UInt64, survival: Survival = .daemon
    ) throws {
        self.number = number
        self.survival = survival
        mountPoint = container.mountPoint
        random = SplitMix(seed: seed &+ UInt64(number))
        agent = try Agent(in: container.base)
    }

    /// Writes until a call fails.
    func start() {
        ending = nil
        published.withLock { $0 = nil }
        acknowledged.withLock { $0 = 0 }
        finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            while ending == nil { step() }
            finished.signal()
        }
    }

    /// Waits until so much of this run was acknowledged or a call has failed, 30 s at most: what is
    /// done within a given time depends on the machine.
    func waitFor(acknowledgements count: Int) {
        waitUntil(seconds: 30) { acknowledgements >= count || endingSoFar != nil }
    }

    /// Waits until a call has failed.
    func join() {
        finished.wait()
    }

    /// The call that has ended the run already.
    var endingSoFar: CallFailure? { published.withLock { $0 } }

    /// Acknowledgements do not count from here on.
    func freeze() {
        files.withLock { files in
            for file in files.keys { files[file]?.freeze() }
        }
    }

    /// Compares all files with what was logged; what is wrong. The agent is the reader.
    func verify() -> [String] {
        files.withLock { files in
            files.keys.compactMap { file in
                switch CarefulCalls(agent).content("\(mountPoint)/\(file)") {
                case .success(let content):
                    files[file]?.judge(content, file: file, afterPowerLoss: survival == .power)
                case .failure(let failure): "\(file): \(failure)"
                }
            }
        }
    }

    // MARK: What a writer does

    private func step() {
        let file = FileName(writer: number, number: random.below(Self.fileCount))
        let path = "\(mountPoint)/\(file)"
        version += 1
        let content = file.content(version: version)
        let calls = CarefulCalls(agent)
        let kind = random.below(13)
        files.withLock {
            $0[file, default: FileHistory()].willBecome(kind == 0 ? .absent : .version(version))
        }
        do {
            switch kind {
            case 0: try calls.remove(path)
            case 1...2: try write(content, to: path, flags: O_WRONLY | O_TRUNC)
            case 3...4: try write(content, to: path, flags: O_RDWR)
            case 5...6: try write(content, to: path, flags: O_WRONLY | O_TRUNC, synchronizing: file)
            case 7: try write(content, to: path, flags: O_RDWR, synchronizing: file)
            case 8...10:
                // Of its own: one that a crash left has a history, and it would go with the name.
                let temporary = "\(path).\(version).tmp"
                try write(content, to: temporary, flags: O_WRONLY | O_TRUNC)
                try calls.rename(temporary, path)
            default: try map(content, to: path)
            }
            if survival == .daemon { acknowledge(file) }
        } catch {
            ending = error
            published.withLock { $0 = error }
            calls.closeAll()
        }
    }

    private func acknowledge(_ file: FileName) {
        acknowledged.withLock { $0 += 1 }
        files.withLock { $0[file]?.hasBecomeSo() }
    }

    /// Writes in one to four pieces; with a file to synchronize, that is acknowledged before
    /// close() is called.
    private func write(
        _ content: [UInt8], to path: String, flags: Int32, synchronizing file: FileName? = nil
    ) throws(CallFailure) {
        let calls = CarefulCalls(agent)
        let descriptor = try calls.open(path, flags | O_CREAT)
        let pieces = 1 + random.below(4)
        let length = max(1, (content.count + pieces - 1) / pieces)
        for start in stride(from: 0, to: content.count, by: length) {
            try calls.write(
                descriptor, Array(content[start..<min(start + length, content.count)]))
        }
        if flags & O_TRUNC == 0 { try calls.truncate(descriptor, content.count) }
        if let file {
            try calls.synchronize(descriptor)
            acknowledge(file)
        }
        try calls.close(descriptor)
    }

    /// Lets the kernel copy into a mapping: where the daemon is gone that is EFAULT, while
    /// touching the memory would be a signal.
    private func map(_ content: [UInt8], to path: String) throws(CallFailure) {
        let calls = CarefulCalls(agent)
        let source = try calls.open("source-\(number)", O_RDWR | O_CREAT | O_TRUNC)
        try calls.write(source, content)
        let descriptor = try calls.open(path, O_RDWR | O_CREAT | O_TRUNC)
        try calls.truncate(descriptor, content.count)
        let address = try calls.map(descriptor, content.count)
        defer { calls.unmap(address, content.count) }
        try calls.read(source, count: content.count, to: address)
        if random.below(2) == 0 { try calls.synchronize(address, content.count) }
        calls.unmap(address, content.count)
        try calls.close(descriptor)
        try calls.close(source)
    }
}
