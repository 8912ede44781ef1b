internal import Content
internal import Glibc
package import Model
package import Stores
package import SystemCalls

/// Those who wait for contents.
extension Downloads {
    /// A number for somebody who is going to wait, so that they can be interrupted.
    ///
    /// - Parameter interrupted: what ``interrupt(_:)`` gives to whoever interrupts them.
    package func ticket(interrupted: @escaping @Sendable (Errno) -> Void) -> UInt64 {
        state.withLock { state in
            defer { state.nextTicket += 1 }
            state.tickets[state.nextTicket] = Ticket(hash: nil, interrupted: interrupted)
            return state.nextTicket
        }
    }

    /// Calls `reply` when the bytes in `range` are here, or with the reason why they do not come.
    ///
    /// - Parameter range: `nil` if all of the content has to have become local.
    package func await(
        _ blob: Blob, _ range: Range<Int64>?, for node: NodeNumber, ticket: UInt64,
        reply: @escaping @Sendable (ContentProblem?) -> Void
    ) {
        enum Outcome { case waiting(lacksWorker: Bool), here, interrupted }
        do throws(Errno) {
            let outcome = try state.withLock { (state) throws(Errno) -> Outcome in
                guard state.tickets[ticket] != nil else { return .interrupted }
                if range == nil || kind == .foreign, hasCome(blob, state) {
                    state.tickets[ticket] = nil
                    return .here
                }
                let download = Self.download(blob, &state)
                download.nodes.insert(node)
                var blocks: Range<Int>?
                if let range, !range.isEmpty, comesWhole(blob), download.incoming == nil {
                    // Its file is opened when its turn comes: thousands may wait.
                    blocks = 0..<1
                } else if let range {
                    let incoming = try download.open(content, kind)
                    let wanted = incoming.blocks(range)
                    _ = Self.note(wanted, of: download, &state)
                    if incoming.has(wanted) {
                        state.tickets[ticket] = nil
                        return .here
                    }
                    blocks = wanted
                    download.hurry(wanted)
                }
                download.waiters.append(
                    DownloadWaiter(ticket: ticket, node: node, blocks: blocks, reply: reply))
                state.waiting += 1
                for piece in download.pieces { piece.urgency.raise() }
                state.tickets[ticket]?.hash = blob.hash
                if download.isFinishing { finished.signal { $0.isUrgent = true } }
                return .waiting(lacksWorker: Self.lacksWorker(&state))
            }
            switch outcome {
            case .waiting(let lacksWorker):
                engage(lacksWorker)
                watchWaiters()
            case .here: reply(nil)
            case .interrupted: reply(ContentProblem(Errno(EINTR), "interrupted"))
            }
        } catch {
            state.withLock { state in
                state.tickets[ticket] = nil
                if let download = state.active[blob.hash] { settle(download, &state) }
            }
            let problem = ContentProblem(ofDisk: error)
            failed([node], problem)
            reply(problem)
        }
    }

    /// Somebody is interrupted who waits, if they still do: the caller has to tell them with the result, and to
    /// take them out (``leave(ticket:)``) when they have had time to come again. One that has not begun to wait
    /// is told when it does.
    package func interrupt(_ ticket: UInt64) -> (@Sendable (Errno) -> Void)? {
        state.withLock { state in
            guard let known = state.tickets[ticket] else { return nil }
            if known.hash != nil { return known.interrupted }
            state.tickets[ticket] = nil
            return nil
        }
    }

    /// Takes somebody out of the waiting, if they still wait: their reply is not called then.
    package func leave(ticket: UInt64) {
        state.withLock { state in
            guard let hash = state.tickets.removeValue(forKey: ticket)?.hash,
                let download = state.active[hash]
            else { return }
            _ = Self.takeWaiters(of: download, &state) { $0.ticket == ticket }
            settle(download, &state)
        }
    }

    /// Takes back the ticket of somebody who is not going to wait; `false` if they were
    /// interrupted, which they have to be told.
    package func withdraw(_ ticket: UInt64) -> Bool {
        state.withLock { $0.tickets.removeValue(forKey: ticket) != nil }
    }
}
