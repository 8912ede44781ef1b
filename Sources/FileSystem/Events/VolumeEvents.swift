internal import Catalog
internal import Coordination
package import Model
internal import Promises
internal import SystemCalls

/// Makes the lines of `.shapeedit/events` for those who have it open.
///
/// Any thread. The thread `events` runs while the file is open anywhere; it alone waits for the
/// catalog.
package final class VolumeEvents: Sendable {
    /// How often progress is told, in milliseconds.
    private static let pace: UInt64 = 500
    /// Changes taken at a time, and looked ahead for what became of a path.
    private static let portion = 512

    private struct Follower: Sendable {
        let stream: EventStream
        let reader: ChangeReader
    }
    /// What was taken for a follower and not told yet.
    private struct Backlog {
        var rows: [ChangeRow] = []
        /// Changes behind ``rows`` that are not known any more.
        var lost: ClosedRange<ChangeSequence>?
    }
    private struct State {
        var followers: [UInt64: Follower] = [:]
        var nextHandle: UInt64 = 1
        var isRunning = false
        /// There may be something to tell, or room for it.
        var stirred = false
        var ended = false
        /// What brings contents, from a store and from sources.
        var downloads: @Sendable () -> [Downloads] = { [] }
        /// Returns when names in directories are what was told of them (``Volume/awaitNames(in:)``).
        var settle: @Sendable (Set<ItemNumber>) -> Void = { _ in }
    }
    private let state = Monitor(State())
    private let container: Container
    private let volume: Lock<VolumeState>

    init(_ container: Container, _ volume: Lock<VolumeState>) {
        self.container = container
        self.volume = volume
    }

    /// Tells of the progress of these, too.
    ///
    /// - Parameter downloads: what there is of the kind; more may come.
    func follow(_ downloads: @escaping @Sendable () -> [Downloads]) {
        state.withLock { $0.downloads = downloads }
    }

    /// Has `settle` run before changes of names are told.
    func setSettling(_ settle: @escaping @Sendable (Set<ItemNumber>) -> Void) {
        state.withLock { $0.settle = settle }
    }

    // MARK: Open files

    /// Opens a stream that begins after `sequence`, or with what happens next: its handle.
    ///
    /// - Parameter wake: called when there are lines for ``takeLines(_:)``, or no more come; on any thread.
    package func open(
        after sequence: ChangeSequence?, wake: @escaping @Sendable () -> Void = {}
    ) -> UInt64 {
        let reader = ChangeReader(container, after: sequence) { [state] in
            state.signal { $0.stirred = true }
        }
        let (handle, starts) = state.signal { state -> (UInt64, Bool) in
            defer {
                state.nextHandle += 1
                state.isRunning = true
                state.stirred = true
            }
            state.followers[state.nextHandle] = Follower(
                stream: EventStream(wake: wake), reader: reader)
            return (state.nextHandle, !state.isRunning)
        }
        if starts { Threads.start("events") { [self] in run() } }
        return handle
    }

    /// The whole lines that wait, none if there are none now; `nil` at the end of the mount.
    package func takeLines(_ handle: UInt64) -> [UInt8]? {
        guard let lines = stream(handle)?.takeLines() else { return nil }
        // There is room for others.
        if !lines.isEmpty { stir() }
        return lines
    }

    package func close(_ handle: UInt64) {
        let follower = state.signal { $0.followers.removeValue(forKey: handle) }
        follower?.reader.end()
        follower?.stream.end()
    }

    /// The stream of an open file.
    func stream(_ handle: UInt64) -> EventStream? {
        state.withLock { $0.followers[handle]?.stream }
    }

    /// Wakes the thread: a read may have made room for lines.
    func stir() { state.signal { $0.stirred = true } }

    /// What names a read of an open file in an interruption.
    static func ticket(_ handle: UInt64, _ number: UInt64) -> UInt64 {
        handle << 32 | number & 0xffff_ffff
    }

    /// The request of an interrupted read, if it is to be answered.
    func interrupt(_ ticket: UInt64) -> Request? {
        stream(ticket >> 32)?.interrupt(ticket & 0xffff_ffff)
    }

    // MARK: The thread

    private func run() {
        var backlogs: [UInt64: Backlog] = [:]
        var told: [ContentHash: ToldProgress] = [:]
        // When progress is told next, however often this is woken before.
        var next = MonotonicClock.now
        while true {
            // The import that brings the first source is a change, which ends the wait.
            let downloads = state.withLock { $0.downloads }()
            _ = state.wait(until: downloads.isEmpty ? .max : next) { state -> Bool? in
                state.stirred || state.ended || state.followers.isEmpty ? true : nil
            }
            let followers = state.signal { state -> [UInt64: Follower]? in
                state.stirred = false
                if state.ended || state.followers.isEmpty {
                    state.isRunning = false
                    return nil
                }
                return state.followers
            }
            guard let followers else { return }
            backlogs = backlogs.filter { followers[$0.key] != nil }
            if followers.values.contains(where: \.stream.wantsLines) { flush() }
            for (handle, follower) in followers {
                tell(follower, &backlogs[handle, default: Backlog()])
            }
            if downloads.isEmpty || MonotonicClock.now < next { continue }
            next = MonotonicClock.after(milliseconds: Self.pace)
            let progress = progressLines(downloads, &told)
            for follower in followers.values where follower.stream.wantsLines {
                follower.stream.append(progress)
            }
        }
    }

    /// Nobody else may wait for what was recorded last (`ChangeLog.announce`). If the journal
    /// cannot be written, that is not told.
    private func flush() { try? container.log.flush(upTo: container.log.head) }

    /// Tells a follower what is new, as far as it reads.
    private func tell(_ follower: Follower, _ backlog: inout Backlog) {
        while follower.stream.wantsLines {
            // If the catalog cannot be asked now, the next change tries again.
            guard (try? take(follower.reader, &backlog)) != nil else { return }
            if backlog.rows.isEmpty {
                guard let lost = backlog.lost else { return }
                backlog.lost = nil
                follower.stream.append(Array(EventLine.lost(lost).utf8))
                continue
            }
            var places = lookUp(backlog.rows)
            if places.contains(where: { $0.path == nil }) {
                // What happened since tells where it was: everything recorded so far is looked at.
                flush()
                _ = try? take(follower.reader, &backlog)
                places = lookUp(backlog.rows)
            }
            var text = ""
            for (row, place) in zip(backlog.rows, places) {
                text += EventLine.change(row, place) ?? ""
            }
            settle(backlog.rows.prefix(places.count))
            backlog.rows.removeFirst(places.count)
            follower.stream.append(Array(text.utf8))
        }
    }

    /// Returns when who looks finds the names that changes just made; those of former times do so anyway.
    private func settle(_ rows: some Sequence<ChangeRow>) {
        let recent = VolumeState.now().seconds - 2
        let directories = rows.compactMap { $0.time.seconds >= recent ? $0.parent : nil }
        state.withLock { $0.settle }(Set(directories))
    }

    /// Takes changes until there are two portions, or no more.
    private func take(_ reader: ChangeReader, _ backlog: inout Backlog) throws(Failure) {
        while backlog.lost == nil, backlog.rows.count < 2 * Self.portion {
            switch try reader.next(atMost: Self.portion) {
            case .changes(let rows):
                if rows.isEmpty { return }
                backlog.rows += rows
            case .lost(let range): backlog.lost = range
            }
        }
    }

    /// Where the changes of the next portion happened.
    private func lookUp(_ rows: [ChangeRow]) -> [EventPlace] {
        volume.withLock { state in
            let places = EventPlaces(state, rows)
            return rows.prefix(Self.portion).map { places.place(of: $0) }
        }
    }

    /// How far a content is, as it was told last, and whose it is.
    private typealias ToldProgress = (received: Int64, size: Int64, node: NodeNumber)

    /// Lines about contents whose share that is here has changed, and about those that are not on their way
    /// any more and did not come: a change tells of those that did.
    private func progressLines(
        _ downloads: [Downloads], _ told: inout [ContentHash: ToldProgress]
    ) -> [UInt8] {
        let active = downloads.flatMap(\.active)
        var text = ""
        var now: [ContentHash: ToldProgress] = [:]
        for (blob, received, nodes) in active where blob.size > 0 {
            guard let node = told[blob.hash]?.node ?? nodes.first else { continue }
            now[blob.hash] = (received, blob.size, node)
            if told[blob.hash]?.received == received { continue }
            let place = volume.withLock { state in self.place(of: node.item, state) }
            text += EventLine.progress(
                place, item: node.item, size: blob.size, received: received)
        }
        for (hash, (_, size, node)) in told where now[hash] == nil {
            let left = volume.withLock { state -> EventPlace? in
                let position = state.index.find(node.item)
                guard position != 0,
                    let content = (try? state.content(of: node, at: position)) ?? nil,
                    state.isAway(node, content.place)
                else { return nil }
                return place(of: node.item, state)
            }
            if let left {
                text += EventLine.progress(left, item: node.item, size: size, received: nil)
            }
        }
        told = now
        return Array(text.utf8)
    }

    /// Where an item is now.
    private func place(of item: ItemNumber, _ state: VolumeState) -> EventPlace {
        EventPlaces(state, []).place(
            of: ChangeRow(
                sequence: 0, time: VolumeState.now(), kind: .materialized, item: item, parent: nil,
                name: nil, process: 0))
    }

    /// Ends all streams and the thread; returns when it is gone.
    func stop() {
        let followers = state.signal { state -> [Follower] in
            state.ended = true
            defer { state.followers = [:] }
            return Array(state.followers.values)
        }
        for follower in followers {
            follower.reader.end()
            follower.stream.end()
        }
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.isRunning ? nil : true
        }
    }
}
