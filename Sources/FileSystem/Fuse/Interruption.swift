internal import CFuseShim
internal import Glibc
internal import Model
internal import Promises
internal import SystemCalls

/// What a parked request waits for: who is to be asked when its process gets a signal.
enum Parking: UInt64 {
    case lock
    case content
    case foreignContent
    case claim
    case events
    case texts
    case forwarding

    /// What a request waits for that waits for these.
    init(_ downloads: Downloads) {
        self = downloads.kind == .foreign ? .foreignContent : .content
    }

    /// Bits of it beside a ticket.
    private static let width: UInt64 = 3

    fileprivate func beside(_ ticket: UInt64) -> UInt64 { ticket << Self.width | rawValue }

    fileprivate static func both(_ word: UInt64) -> (Parking, UInt64)? {
        Parking(rawValue: word & (1 << width - 1)).map { ($0, word >> width) }
    }
}

extension FuseSession {
    /// Has a request that is about to be parked answered with EINTR when its process gets a signal.
    /// Before the request can be answered, and so freed, by another thread.
    ///
    /// - Parameter ticket: by which it is known to whom it waits for; below 2^61.
    func answerInterrupts(of request: Request, _ parking: Parking, _ ticket: UInt64) {
        fuse_req_interrupt_func(
            request.pointer,
            { request, data in
                guard let request, let session = FuseSession.of(request),
                    let (parking, ticket) = Parking.both(UInt64(UInt(bitPattern: data))),
                    let answer = session.takeOut(Request(pointer: request), parking, ticket)
                else { return }
                // libfuse holds the request's lock here: answer from elsewhere.
                session.volume.notifier.post { answer(Errno(EINTR)) }
            }, UnsafeMutableRawPointer(bitPattern: UInt(parking.beside(ticket))))
    }

    /// Takes a request out of the waiting; how it is to be answered, if it is.
    private func takeOut(_ request: Request, _ parking: Parking, _ ticket: UInt64)
        -> (@Sendable (Errno) -> Void)?
    {
        let fail: @Sendable (Errno) -> Void = { request.fail($0) }
        switch parking {
        case .lock: return volume.interruptLock(ticket) ? fail : nil
        case .content: return volume.interrupt(ticket, of: volume.link?.downloads)
        case .foreignContent: return volume.interrupt(ticket, of: volume.sources?.downloads)
        case .claim: return volume.coordinator.interrupt(ticket) ? fail : nil
        case .texts: return volume.texts?.interrupt(ticket) == true ? fail : nil
        case .forwarding:
            // It answers by itself.
            granted?.forwarding.interrupt(ticket)
            return nil
        case .events:
            guard let parked = volume.events.interrupt(ticket) else { return nil }
            return { parked.fail($0) }
        }
    }
}
