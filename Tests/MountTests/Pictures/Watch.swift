import Glibc

/// inotify on one file or directory.
final class Watch {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK))
        guard inotify_add_watch(descriptor, path, 0xFFF) >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Whether the event comes; with 0 seconds, whether it has come.
    func sees(_ event: UInt32, of name: String = "", seconds: Int) -> Bool {
        for _ in 0...seconds * 100 {
            if count(of: event, name: name) > 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// How often the event has come, among those that were read together first.
    func count(of event: UInt32, name: String) -> Int {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let size = read(descriptor, &buffer, buffer.count)
        var (place, found) = (0, 0)
        while size > 0, place + 16 <= size {
            let mask = buffer.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            }
            let length = buffer.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
            }
            let named = String(
                decoding: buffer[(place + 16)...].prefix(Int(length)).prefix { $0 != 0 },
                as: UTF8.self)
            if mask & event != 0, named == name { found += 1 }
            place += 16 + Int(length)
        }
        return found
    }
}
