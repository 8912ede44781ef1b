internal import Content
internal import Model
internal import Stores
internal import SystemCalls

/// The bringing of one content: its file, which blocks of it are there, and who waits for which.
///
/// Guarded by the lock of ``Downloads``, but for the bytes of ``incoming``, which workers write without it:
/// each block belongs to one piece at a time.
final class Download {
    let blob: Blob
    /// The address of where it comes from; `nil` if it has not been asked for.
    var place: String?
    /// `nil` until somebody reads it or a worker turns to it: thousands may wait for their turn.
    private(set) var incoming: Incoming?
    /// Blocks that a piece is bringing.
    var busy: Set<Int> = []
    var pieces: [Piece] = []
    var waiters: [DownloadWaiter] = []
    /// Nodes that become local when all has come.
    var nodes: Set<NodeNumber> = []
    /// Open handles that read it block by block, by their nodes.
    private(set) var readers: [NodeNumber: Int] = [:]
    /// What these ask for.
    var reading = ReadAhead()
    /// Nodes that all of it is wanted for, though nobody waits.
    var wanting: Set<NodeNumber> = []
    /// The server sends all of it, whichever part it is asked for.
    var isWithoutRanges = false
    /// All is there, and it is being moved among the blobs.
    var isFinishing = false
    /// What came of it goes when the pieces end that are on their way.
    var isDropped = false

    init(_ blob: Blob) { self.blob = blob }

    /// Opens its files, if they are not open yet.
    func open(_ content: LocalContent, _ kind: Downloads.Kind) throws(Errno) -> Incoming {
        if let incoming { return incoming }
        let opened = try Incoming(blob, content, kind)
        incoming = opened
        return opened
    }

    /// Somebody has it open who reads it block by block.
    var isRead: Bool { !readers.isEmpty }

    func addReader(_ node: NodeNumber) {
        readers[node, default: 0] += 1
        nodes.insert(node)
    }

    /// - Returns: `false` if the node has none.
    func removeReader(_ node: NodeNumber) -> Bool {
        guard let count = readers[node] else { return false }
        readers[node] = count > 1 ? count - 1 : nil
        if !isRead { reading.end() }
        return true
    }

    /// All of it is not wanted any more for this document; others that have the same content may go on.
    func endWish(of item: ItemNumber) {
        wanting = wanting.filter { $0.item != item }
        let isUsed = isRead(by: item) || waiters.contains { $0.node.item == item }
        let others = nodes.filter { $0.item != item }
        // What comes is always somebody's.
        if !isUsed, !others.isEmpty { nodes = others }
    }

    /// Whether somebody has this document open who reads it block by block.
    private func isRead(by item: ItemNumber) -> Bool { readers.keys.contains { $0.item == item } }

    /// Readers go on: something is to come ahead of them.
    private var isReadOn: Bool { isRead && reading.isBegun }

    /// More of it is to come even if nobody waits.
    var wantsMore: Bool { !wanting.isEmpty || isReadOn }

    /// All of it is.
    private var wantsAll: Bool { !wanting.isEmpty || isReadOn && reading.isWhole }

    /// When ``wantsMore`` comes to be about all of it, of ``MonotonicClock``; `nil` if it is already,
    /// or never.
    var wantsAllFrom: UInt64? { isReadOn && !wantsAll ? reading.wholeFrom : nil }

    /// More of it is coming, or about to.
    var isUnderWay: Bool { !waiters.isEmpty || !pieces.isEmpty || wantsMore || isFinishing }

    /// Nobody has anything to do with it.
    var isIdle: Bool { !isUnderWay && !isRead }

    /// Bytes that are here or have come with pieces that are not whole yet.
    var received: Int64 {
        guard let incoming else { return 0 }
        return min(blob.size, incoming.present + pieces.reduce(0) { $0 + $1.partial })
    }

    /// The next piece that somebody waits for, or of what else is to come; `nil` if all of that is
    /// there or on its way.
    func nextPiece(_ incoming: Incoming, awaited: Bool) -> Range<Int>? {
        let all = incoming.all
        if isWithoutRanges { return nextStretch(incoming, awaited: awaited) }
        if awaited {
            for waiter in waiters {
                let blocks = waiter.blocks ?? all
                if let first = blocks.first(where: { isOpen($0, incoming) }) {
                    // With more to come anyway, one request for all of that is cheaper.
                    return
                        first..<run(from: first, to: end(after: blocks.upperBound, all), incoming)
                }
            }
            return nil
        }
        guard wantsMore, pieces.count < Self.streams else { return nil }
        let start = min(reading.position, all.upperBound)
        let end = end(after: start, all)
        let first =
            (start..<end).first { isOpen($0, incoming) }
            ?? (wantsAll ? (0..<start).first { isOpen($0, incoming) } : nil)
        guard let first else { return nil }
        return first..<run(from: first, to: end, incoming)
    }

    /// The same where all that lies before it comes again with each piece: one brings all that is missing
    /// up to where somebody waits, or to the end.
    private func nextStretch(_ incoming: Incoming, awaited: Bool) -> Range<Int>? {
        let all = incoming.all
        guard pieces.isEmpty, awaited || wantsMore,
            let first = all.first(where: { isOpen($0, incoming) })
        else { return nil }
        let end = waiters.map { $0.blocks?.upperBound ?? all.upperBound }.max() ?? all.upperBound
        return first..<run(from: first, to: wantsMore ? all.upperBound : end, incoming, .max)
    }

    /// How far more is to come from a block on.
    private func end(after block: Int, _ all: Range<Int>) -> Int {
        wantsAll ? all.upperBound : min(block + (isReadOn ? reading.count : 0), all.upperBound)
    }

    /// Pieces at a time of what nobody waits for, and the most blocks of one.
    private static let streams = 2
    private static let longest = 64

    private func isOpen(_ block: Int, _ incoming: Incoming) -> Bool {
        !incoming.map.has(block) && !busy.contains(block)
    }

    private func run(
        from first: Int, to end: Int, _ incoming: Incoming, _ longest: Int = longest
    ) -> Int {
        var last = first + 1
        while last < end, last - first < longest, isOpen(last, incoming) { last += 1 }
        return last
    }

    /// Takes blocks that somebody waits for out of a piece that will not reach them soon.
    func hurry(_ blocks: Range<Int>) {
        if isWithoutRanges { return }
        for piece in pieces {
            guard let wanted = blocks.first(where: { $0 >= piece.next + Self.soon }),
                wanted < piece.end
            else { continue }
            for block in wanted..<piece.end { busy.remove(block) }
            piece.end = wanted
        }
    }

    /// A piece reaches so many blocks soon.
    private static let soon = 4
}

/// Blocks that one worker brings with one request. Guarded by the lock of ``Downloads``.
final class Piece {
    let first: Int
    /// May come down while the piece is on its way.
    var end: Int
    /// The first block that has not come yet.
    var next: Int
    /// Bytes of ``next`` that have come.
    var partial: Int64 = 0
    let cancellation = Cancellation()
    let urgency: Urgency
    /// Where it counts as coming from; `nil`: nowhere.
    var place: String?
    /// When a worker turned to it, of ``MonotonicClock``.
    let began = MonotonicClock.now

    init(_ blocks: Range<Int>, awaited: Bool) {
        first = blocks.lowerBound
        end = blocks.upperBound
        next = blocks.lowerBound
        urgency = Urgency(awaited: awaited)
    }
}

/// Somebody who waits for blocks.
struct DownloadWaiter {
    let ticket: UInt64
    /// What they look at: others may wait for the same content in another document.
    let node: NodeNumber
    /// `nil`: they wait for the whole content among the blobs, not only for bytes.
    let blocks: Range<Int>?
    /// Since this moment of ``MonotonicClock``.
    let since = MonotonicClock.now
    let reply: @Sendable (ContentProblem?) -> Void
}
