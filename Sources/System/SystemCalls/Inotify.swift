internal import Glibc
internal import PathText

/// A queue of inotify(7): what happens to items and in folders. Any thread; each event is taken once.
package final class Inotify: Sendable {
    /// Something that happened.
    package struct Event {
        /// Whose watch it is about; -1 if events were lost.
        package var watch: Int32
        /// The bits of inotify(7).
        package var mask: UInt32
        /// In a folder that is watched; empty if the watched item itself is meant.
        package var name: String

        /// Whether one of these happened.
        package func isAny(of bits: Int...) -> Bool { bits.contains { mask & UInt32($0) != 0 } }
        /// So much happened that the kernel dropped some of it.
        package var tellsLoss: Bool { isAny(of: 0x4000) }
    }

    private let queue: OwnedDescriptor

    /// EMFILE if the user has too many queues.
    package init() throws(Errno) {
        queue = OwnedDescriptor(
            adopting: try check { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
    }

    /// Readable when something happened.
    package var number: Int32 { queue.number }

    /// Watches an item too, besides what is watched of it already; ENOSPC if the user has too many
    /// watches.
    package func watch(_ path: String, _ bits: Int) throws(Errno) -> Int32 {
        // IN_MASK_ADD, which does not import.
        try check { inotify_add_watch(queue.number, path.cPath, UInt32(bits) | 0x2000_0000) }
    }

    /// Why a path is not watched, in words: the kernel speaks of a full disk where its own limits are reached.
    package static func problem(_ error: Errno, at path: String) -> String {
        let isLimit = error.code == ENOSPC || error.code == EMFILE
        return isLimit
            ? "\(path): the limit of what inotify watches is reached" : "\(path): \(error)"
    }

    /// Ends a watch.
    package func forget(_ watch: Int32) { inotify_rm_watch(queue.number, watch) }

    /// All that has happened and was not taken, in its order. Does not wait.
    package func take() -> [Event] {
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
