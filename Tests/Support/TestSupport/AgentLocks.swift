internal import CKernel
internal import Glibc
internal import Probing
package import Testing

/// Which part of a file fcntl(2) locks, and how.
package struct RecordLock: Equatable, Sendable {
    /// F_RDLCK, F_WRLCK or F_UNLCK.
    package var kind: Int32
    /// The first byte.
    package var start: Int
    /// How many bytes; 0 is to the end, however far.
    package var length: Int

    /// A lock on the whole file unless told.
    package init(_ kind: Int32, start: Int = 0, length: Int = 0) {
        self.kind = kind
        self.start = start
        self.length = length
    }

    fileprivate var bytes: [UInt8] {
        var raw = Glibc.flock()
        raw.l_type = Int16(kind)
        raw.l_whence = Int16(SEEK_SET)
        raw.l_start = off_t(start)
        raw.l_len = off_t(length)
        return withUnsafeBytes(of: &raw) { Array($0) }
    }
}

extension Agent {
    /// flock(2).
    package func lock(
        _ descriptor: Descriptor, _ operation: Int32, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "flock \(operation)", SYS_flock,
            [.integer(descriptor.number), .integer(Int(operation))], fails: fails, at: location)
    }

    /// flock(2) without waiting for its end.
    package func beginLock(_ descriptor: Descriptor, _ operation: Int32) {
        begin(
            "flock \(operation)",
            .call(
                number: Int(SYS_flock),
                arguments: [.integer(descriptor.number), .integer(Int(operation))],
                onNewThread: false))
    }

    /// fcntl(2) with F_SETLK, F_SETLKW or their relatives.
    package func lock(
        _ descriptor: Descriptor, _ command: Int32, _ lock: RecordLock, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "fcntl lock \(command) \(lock)", SYS_fcntl,
            Self.arguments(descriptor, command, lock), fails: fails, at: location)
    }

    /// fcntl(2) with F_SETLKW without waiting for its end.
    package func beginLock(_ descriptor: Descriptor, _ lock: RecordLock) {
        begin(
            "fcntl F_SETLKW \(lock)",
            .call(
                number: Int(SYS_fcntl), arguments: Self.arguments(descriptor, F_SETLKW, lock),
                onNewThread: false))
    }

    /// fcntl(2) with F_OFD_SETLKW without waiting for its end.
    package func beginFileLock(_ descriptor: Descriptor, _ lock: RecordLock) {
        begin(
            "fcntl F_OFD_SETLKW \(lock)",
            .call(
                number: Int(SYS_fcntl),
                arguments: Self.arguments(descriptor, F_OFD_SETLKW, lock), onNewThread: false))
    }

    /// The end of a call that was begun, which has to have one of these outcomes.
    package func finish(
        _ name: String, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        judge(name, finish(at: location), fails: fails, at: location)
    }

    /// F_GETLK: the process that holds a lock in the way of this one; nil where there is none.
    package func holder(
        _ descriptor: Descriptor, of lock: RecordLock,
        at location: SourceLocation = #_sourceLocation
    ) -> Int? {
        let reply = call(
            "fcntl F_GETLK", SYS_fcntl, Self.arguments(descriptor, F_GETLK, lock), fails: [],
            at: location)
        guard let bytes = reply.buffers.first else { return nil }
        let found = bytes.withUnsafeBytes { $0.loadUnaligned(as: Glibc.flock.self) }
        return Int32(found.l_type) == F_UNLCK ? nil : Int(found.l_pid)
    }

    /// F_OFD_GETLK with F_UNLCK: the lock that the open file itself holds in this range; nil where there is
    /// none. Linux tells it since 6.6.
    package func ownLock(
        _ descriptor: Descriptor, in range: RecordLock,
        at location: SourceLocation = #_sourceLocation
    ) -> RecordLock? {
        let reply = call(
            "fcntl F_OFD_GETLK", SYS_fcntl, Self.arguments(descriptor, F_OFD_GETLK, range),
            fails: [], at: location)
        guard let bytes = reply.buffers.first else { return nil }
        let found = bytes.withUnsafeBytes { $0.loadUnaligned(as: Glibc.flock.self) }
        if Int32(found.l_type) == F_UNLCK { return nil }
        return RecordLock(
            Int32(found.l_type), start: Int(found.l_start), length: Int(found.l_len))
    }

    private static func arguments(
        _ descriptor: Descriptor, _ command: Int32, _ lock: RecordLock
    ) -> [CallArgument] {
        [.integer(descriptor.number), .integer(Int(command)), .both(lock.bytes)]
    }
}
