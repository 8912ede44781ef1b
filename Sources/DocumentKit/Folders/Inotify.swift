internal import Glibc
internal import PathText
internal import SystemCalls

/// A queue of inotify(7): what happens to items and in folders. For one thread at a time.
final class Inotify {
    /// Something that happened.
    struct Event {
        /// Whose watch it is about; -1 if events were lost.
        var watch: Int32
        /// The bits of inotify(7).
        var mask: UInt32
        /// In a folder that is watched; empty if the watched item itself is meant.
        var name: String

        /// Whether one of these happened.
        func isAny(of bits: Int...) -> Bool { bits.contains { mask & UInt32($0) != 0 } }
        /// So much happened that the kernel dropped some of it.
        var tellsLoss: Bool { isAny(of: 0x4000) }
    }

    private let queue: OwnedDescriptor

    /// EMFILE if the user has too many queues.
    init() throws(Errno) {
        queue = OwnedDescriptor(
            adopting: try check { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
    }

    /// Readable when something happened.
    var number: Int32 { queue.number }

    /// Watches an item too, besides what is watched of it already; ENOSPC if the user has too many
    /// watches.
    func watch(_ path: String, _ bits: Int) throws(Errno) -> Int32 {
        // IN_MASK_ADD, which does not import.
        try check { inotify_add_watch(queue.number, path.cPath, UInt32(bits) | 0x2000_0000) }
    }

    /// Ends a watch.
    func forget(_ watch: Int32) { inotify_rm_watch(queue.number, watch) }

    /// All that has happened and was not taken, in its order. Does not wait.
    func take() -> [Event] {
        var events: [Event] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(queue.number, &buffer, buffer.count)
            if count <= 0 { return events }
            buffer[..<count].withUnsafeBytes { bytes in
                var offset = 0
                while offset + 16 <= bytes.count {
                    let length = Int(
                        bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    let name = bytes[(offset + 16)..<min(offset + 16 + length, bytes.count)]
                    events.append(
                        Event(
                            watch: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                            mask: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
                            name: String(path: name.prefix { $0 != 0 })))
                    offset += 16 + length
                }
            }
        }
    }
}
