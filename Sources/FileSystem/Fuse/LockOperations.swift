internal import CFuseShim
internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

extension FuseSession {
    static func lockOperations(_ table: inout fuse_lowlevel_ops) {
        table.getlk = { request, number, info, lock in
            guard let request, let info, let lock else { return }
            FuseSession.of(request)?.test(request, number, info, lock)
        }
        table.setlk = { request, number, info, lock, wait in
            guard let request, let info, let lock else { return }
            FuseSession.of(request)?.lock(request, number, info, lock, wait: wait != 0)
        }
        table.flock = { request, number, info, operation in
            guard let request, let info else { return }
            FuseSession.of(request)?.flock(request, number, info, operation)
        }
    }

    static func of(_ request: fuse_req_t) -> FuseSession? {
        fuse_req_userdata(request).map {
            Unmanaged<FuseSession>.fromOpaque($0).takeUnretainedValue()
        }
    }

    private func test(
        _ request: fuse_req_t, _ number: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>,
        _ lock: UnsafeMutablePointer<Glibc.flock>
    ) {
        var answer = lock.pointee
        if let conflict = isVirtual(number) ? nil : answering(number, info, lock) {
            answer.l_type = Int16(conflict.kind == .shared ? F_RDLCK : F_WRLCK)
            answer.l_start = off_t(conflict.range.lowerBound)
            answer.l_len =
                conflict.range.upperBound == .max
                ? 0 : off_t(conflict.range.upperBound - conflict.range.lowerBound + 1)
            answer.l_pid = conflict.process
        } else {
            answer.l_type = Int16(F_UNLCK)
        }
        answer.l_whence = Int16(SEEK_SET)
        fuse_reply_lock(request, &answer)
    }

    /// What F_GETLK asks for: a lock in the way. F_OFD_GETLK with F_UNLCK asks for a lock of the asker's own.
    private func answering(
        _ number: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>,
        _ lock: UnsafeMutablePointer<Glibc.flock>
    ) -> LockConflict? {
        if let wanted = wanted(number, info, lock) { return volume.conflict(wanted) }
        return volume.heldLock(
            NodeNumber(rawValue: number).item, Self.range(lock), info.pointee.lock_owner)
    }

    private func lock(
        _ request: fuse_req_t, _ number: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>,
        _ lock: UnsafeMutablePointer<Glibc.flock>, wait: Bool
    ) {
        if isVirtual(number) {
            fuse_reply_err(request, 0)
        } else if let wanted = wanted(number, info, lock) {
            take(wanted, Request(pointer: request), Handle(rawValue: info.pointee.fh), wait: wait)
        } else {
            volume.unlock(
                NodeNumber(rawValue: number).item, .record, Self.range(lock),
                info.pointee.lock_owner)
            fuse_reply_err(request, 0)
        }
    }

    /// Virtual files change for nobody: everybody may have any lock on them.
    private func isVirtual(_ number: fuse_ino_t) -> Bool { number & VirtualTree.bit != 0 }

    private func flock(
        _ request: fuse_req_t, _ number: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>,
        _ operation: Int32
    ) {
        if isVirtual(number) {
            fuse_reply_err(request, 0)
            return
        }
        let item = NodeNumber(rawValue: number).item
        // Not what the kernel calls the owner, the address of the open file: the next one may have the
        // same, and be here before the RELEASE of the last.
        let owner = info.pointee.fh
        if operation & LOCK_UN != 0 {
            volume.unlock(item, .whole, 0...Int64.max, owner)
            fuse_reply_err(request, 0)
            return
        }
        let wanted = LockRequest(
            item: item, family: .whole, kind: operation & LOCK_SH != 0 ? .shared : .exclusive,
            owner: owner,
            process: CallerProcess.process(of: Request(pointer: request).caller.thread))
        take(
            wanted, Request(pointer: request), Handle(rawValue: owner),
            wait: operation & LOCK_NB == 0)
    }

    /// Takes a lock when no claim of others is in the way.
    private func take(
        _ wanted: LockRequest, _ request: Request, _ handle: Handle, wait: Bool
    ) {
        guard isClaimed else {
            return acquire(wanted, request, handle, wait: wait, asksAgain: true)
        }
        whenFree(request, volume.locking(wanted, wait: wait)) { [self] in
            acquire(wanted, request, handle, wait: wait)
        }
    }

    private func acquire(
        _ wanted: LockRequest, _ request: Request, _ handle: Handle, wait: Bool,
        asksAgain: Bool = false
    ) {
        // Most locks are free: only those that have to be waited for can be interrupted.
        volume.acquire(wanted, through: handle, ticket: nil, asksAgain: asksAgain) {
            [self] problem in
            guard let problem else { return request.succeed() }
            if problem.code == ERESTART { return take(wanted, request, handle, wait: wait) }
            guard problem.code == EAGAIN else { return request.fail(problem) }
            let end = wait ? nil : volume.endOfClosing(wanted)
            if wait || end != nil { return park(wanted, request, handle, until: end) }
            request.fail(problem)
        }
    }

    /// Takes a lock when nobody has one that is in the way.
    ///
    /// - Parameter end: when to fail with EAGAIN, of ``MonotonicClock``; `nil` waits for ever.
    private func park(
        _ wanted: LockRequest, _ request: Request, _ handle: Handle, until end: UInt64?
    ) {
        let ticket = volume.lockTicket()
        answerInterrupts(of: request, .lock, ticket)
        volume.acquire(wanted, through: handle, ticket: ticket) { [self] problem in
            guard let problem else { return request.succeed() }
            guard problem.code == ERESTART else { return request.fail(problem) }
            if end == nil {
                take(wanted, request, handle, wait: true)
            } else {
                request.fail(Errno(EAGAIN))
            }
        }
        // After it: who was interrupted before it had a place would be told of a signal.
        if let end {
            volume.scheduler.at(end) { [self] in
                if volume.interruptLock(ticket) { request.fail(Errno(EAGAIN)) }
            }
        }
    }

    private func wanted(
        _ number: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>,
        _ lock: UnsafeMutablePointer<Glibc.flock>
    ) -> LockRequest? {
        let type = Int32(lock.pointee.l_type)
        guard type == F_RDLCK || type == F_WRLCK else { return nil }
        return LockRequest(
            item: NodeNumber(rawValue: number).item, family: .record,
            kind: type == F_RDLCK ? .shared : .exclusive, range: Self.range(lock),
            owner: info.pointee.lock_owner, process: lock.pointee.l_pid)
    }

    private static func range(_ lock: UnsafeMutablePointer<Glibc.flock>) -> ClosedRange<Int64> {
        let start = max(Int64(lock.pointee.l_start), 0)
        let length = Int64(lock.pointee.l_len)
        return length == 0 ? start...Int64.max : start...max(start, start + length - 1)
    }
}
