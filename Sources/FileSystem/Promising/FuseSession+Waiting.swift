internal import CFuseShim
internal import Content
internal import Glibc
internal import Model
internal import Promises
internal import Stores
internal import SystemCalls

/// Requests that need bytes which are not here. They are parked: no thread waits with them.
extension FuseSession {
    /// Goes on with `then` when all bytes in `range` are here; `nil`: when the content has become
    /// local. Answers the request with the error if
    /// they do not come, with EINTR if its process is interrupted, and calls `otherwise`.
    ///
    /// - Parameter reader: the handle that reads them, if it is a read (``Refusals``).
    func wait(
        _ request: Request, for missing: MissingContent, _ range: Range<Int64>?, _ node: NodeNumber,
        reader: Handle? = nil,
        otherwise: @escaping @Sendable () -> Void = {}, then: @escaping @Sendable () -> Void
    ) {
        let (blob, downloads) = (missing.blob, missing.downloads)
        let bytes = range ?? blob.range
        if let reader, let error = volume.refusals.error(for: node, bytes, by: reader) {
            return refuse(request, error, downloads, otherwise)
        }
        let turn = Turn()
        let ticket = downloads.ticket { error in
            guard turn.take() else { return }
            otherwise()
            request.fail(error)
        }
        answerInterrupts(of: request, Parking(downloads), ticket)
        if reader != nil {
            volume.end(deafnessOf: request.caller.thread, turn) {
                otherwise()
                request.fail(Errno(EINTR))
            } leave: {
                downloads.leave(ticket: ticket)
            }
        }
        downloads.await(blob, range, for: node, ticket: ticket) { [volume] problem in
            guard turn.take() else { return }
            guard let problem else { return then() }
            if reader != nil { volume.refuse(problem, for: node, bytes) }
            otherwise()
            request.fail(problem.told)
        }
    }

    /// How long a signal to a process whose read is refused has to become known, in milliseconds.
    private static let interruption: UInt64 = 50

    /// Answers a read with an error that was told before. Of a signal that came while it read ahead
    /// the kernel tells only now, right after the read: that goes before.
    private func refuse(
        _ request: Request, _ error: Errno, _ downloads: Downloads,
        _ otherwise: @escaping @Sendable () -> Void
    ) {
        let ticket = downloads.ticket { _ in }
        answerInterrupts(of: request, Parking(downloads), ticket)
        volume.after(milliseconds: Self.interruption) {
            let isInterrupted = !downloads.withdraw(ticket)
            otherwise()
            request.fail(isInterrupted ? Errno(EINTR) : error)
        }
    }

    /// Opens a document; waits for its content first if it is to be read and comes as a whole. Who
    /// opens it for writing waits when they read or write.
    ///
    /// - Parameter asksAgain: whether it has to ask for claims once more (``VolumeState/askAgain(_:)``).
    func openWhenHere(
        _ request: Request, _ node: NodeNumber, _ flags: Int32, asksAgain: Bool = false
    ) {
        let held = volume.hold(node, for: request.caller.thread)
        let reads = flags & O_ACCMODE == O_RDONLY && flags & O_TRUNC == 0
        if reads, let missing = volume.missing(node), !missing.isOpenedAtOnce {
            wait(
                request, for: missing, missing.isReadInBlocks ? missing.blob.range : nil, node,
                otherwise: { [volume] in volume.letGo(held) }
            ) { [self] in open(request, node, flags, holding: held, asksAgain: asksAgain) }
        } else {
            open(request, node, flags, holding: held, asksAgain: asksAgain)
        }
    }

    /// Runs `work`, which needs the content under the handle, when all of it is here; answers the
    /// request with what it throws.
    ///
    /// - Parameter isRead: whether the request is a read.
    func whenHere(
        _ request: Request, _ node: NodeNumber, _ handle: Handle?, isRead: Bool = false,
        _ work: @escaping @Sendable () throws(Errno) -> Void
    ) throws(Errno) {
        guard let missing = volume.missing(node, handle) else { return try work() }
        let held = volume.hold(node, for: request.caller.thread)
        wait(
            request, for: missing, nil, node, reader: isRead ? handle : nil,
            otherwise: { [volume] in volume.letGo(held) }
        ) { [volume] in
            defer { volume.letGo(held) }
            do throws(Errno) { try work() } catch { request.fail(error) }
        }
    }

    /// Changes attributes; waits for the content first if a part of it stays.
    func set(_ request: Request, _ node: NodeNumber, _ handle: Handle?, _ settings: Settings)
        throws(Errno)
    {
        let change: @Sendable () -> Void = { [volume] in
            volume.set(node, handle, settings, request.caller) { result in
                switch result {
                case .success(let entry): request.answer(attributes: entry)
                case .failure(let error): request.fail(error)
                }
            }
        }
        guard let size = settings.size, size > 0 else { return change() }
        try whenHere(request, node, handle, change)
    }

    /// Answers a read of a content that comes in blocks; says whether it does.
    func readBlocks(
        _ request: Request, _ node: NodeNumber, _ handle: Handle, _ size: Int, _ offset: Int64
    ) -> Bool {
        guard let missing = volume.missing(node) else { return false }
        let blob = missing.blob
        let range = (offset..<offset + Int64(size)).clamped(to: blob.range)
        if range.isEmpty {
            request.answer([])
            return true
        }
        guard let (bytes, isHere) = missing.downloads.bytes(blob.hash, range) else { return false }
        if isHere {
            answerBlocks(request, handle, size, offset, with: bytes.part(of: blob))
        } else {
            wait(request, for: missing, range, node, reader: handle) { [self] in
                // They are the same when the content has become whole.
                answerBlocks(request, handle, size, offset, with: bytes.part(of: blob))
            }
        }
        return true
    }

    private func answerBlocks(
        _ request: Request, _ handle: Handle, _ size: Int, _ offset: Int64,
        with part: ContentPart
    ) {
        do throws(Errno) { try answer(request, handle, size, offset, with: part) } catch {
            request.fail(error)
        }
    }
}
