import CKernel
import Glibc
import TestSupport
import Testing

/// The kinds of things a directory can hold.
enum FileKind: String, CaseIterable {
    case file, directory, fifo, characterDevice, blockDevice, socket, symbolicLink

    /// The type bits of its mode.
    var modeBits: Int {
        switch self {
        case .file: 0o100000
        case .directory: 0o040000
        case .fifo: 0o010000
        case .characterDevice: 0o020000
        case .blockDevice: 0o060000
        case .socket: 0o140000
        case .symbolicLink: 0o120000
        }
    }

    /// The kinds that `agent` may make: devices only as root.
    static func possible(for agent: Agent) -> [FileKind] {
        allCases.filter { agent.user == 0 || ($0 != .characterDevice && $0 != .blockDevice) }
    }

    /// Makes one; symbolic links dangle.
    func make(
        _ path: ByteString, by agent: Agent, mode: Int = 0o644,
        at location: SourceLocation = #_sourceLocation
    ) {
        switch self {
        case .file:
            agent.close(
                agent.open(path, O_CREAT | O_EXCL | O_WRONLY, mode: mode, at: location),
                at: location)
        case .directory: agent.makeDirectory(path, mode: mode, at: location)
        case .symbolicLink: agent.symlink(to: "nowhere", path, at: location)
        case .fifo, .characterDevice, .blockDevice, .socket:
            // Major 1, minor 3 is /dev/null as a character device.
            let device = self == .characterDevice || self == .blockDevice ? 0x103 : 0
            agent.makeNode(path, mode: modeBits | mode, device: device, at: location)
        }
    }

    /// Removes one.
    func remove(
        _ path: ByteString, by agent: Agent, at location: SourceLocation = #_sourceLocation
    ) {
        if self == .directory {
            agent.removeDirectory(path, at: location)
        } else {
            agent.unlink(path, at: location)
        }
    }
}

/// Lets the clock of file times go on: the kernel's is as coarse as its timer tick.
func letTimePass() {
    let start = nanosecondsNow(CLOCK_REALTIME_COARSE)
    repeat { usleep(15_000) } while nanosecondsNow(CLOCK_REALTIME_COARSE) < start + 10_000_000
}

/// The moment as file times count it.
func nanosecondsNow(_ clock: clockid_t = CLOCK_REALTIME) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
