import Glibc
import SystemCalls

/// Events from other threads for the one that has the terminal.
final class EventInbox<Event: Sendable>: Sendable {
    private let events = Lock<[Event]>([])
    private let bell: OwnedDescriptor
    private let button: OwnedDescriptor

    init() throws(Errno) {
        var ends: [Int32] = [-1, -1]
        try check { pipe(&ends) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        bell = OwnedDescriptor(adopting: ends[0])
        button = OwnedDescriptor(adopting: ends[1])
    }

    /// Readable while there are events.
    var descriptor: Int32 { bell.number }

    func put(_ event: Event) {
        events.withLock { $0.append(event) }
        // A pipe that is full is heard too.
        var one: UInt8 = 1
        _ = write(button.number, &one, 1)
    }

    func takeAll() -> [Event] {
        var buffer = [UInt8](repeating: 0, count: 256)
        while read(bell.number, &buffer, buffer.count) > 0 {}
        return events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
