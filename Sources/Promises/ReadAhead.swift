internal import SystemCalls

/// What readers of a content that comes in blocks have asked for, and how much comes ahead of them.
///
/// Who looks what it is reads a little and is gone: `file` as much as 7 MiB at either end. So nothing
/// comes ahead of the first two blocks, then as many as were asked for, and all of it for who asks for
/// more than `file` does, or is still there a second later.
struct ReadAhead {
    /// The first different blocks that were asked for.
    private var asked: Set<Int> = []
    /// When somebody went on to a third one, of ``MonotonicClock``.
    private var since: UInt64 = 0
    /// Where readers read last: the rest comes from there on.
    private(set) var position = 0

    /// Of so many blocks nothing comes ahead.
    private static let looked = 2
    /// With more of them all is to come.
    private static let most = 16
    /// Who stays for so long reads on, in nanoseconds.
    private static let stay: UInt64 = 1_000_000_000

    /// Notes what a handle reads; whether more is to come ahead now.
    mutating func note(_ blocks: Range<Int>) -> Bool {
        position = blocks.upperBound
        if asked.count > Self.most { return false }
        let before = asked.count
        asked.formUnion(blocks.prefix(Self.most + 1))
        if before <= Self.looked, isBegun { since = MonotonicClock.now }
        return isBegun && asked.count > before
    }

    /// Something comes ahead.
    var isBegun: Bool { asked.count > Self.looked }

    /// All of it does.
    var isWhole: Bool { asked.count > Self.most || isBegun && wholeFrom <= MonotonicClock.now }

    /// From this moment on all of it does, if something does.
    var wholeFrom: UInt64 { since + Self.stay }

    /// Blocks that come ahead of the last one that was read.
    var count: Int { isBegun ? asked.count : 0 }

    /// Nobody reads any more, or wants more to come.
    mutating func end() { asked = [] }
}

extension Downloads {
    /// Notes what a handle reads; whether more is to come ahead of it now.
    static func note(_ blocks: Range<Int>, of download: Download, _ state: inout State) -> Bool {
        let isMore = download.reading.note(blocks)
        if isMore, let moment = download.wantsAllFrom {
            state.nextLook = min(state.nextLook, moment)
        }
        return isMore
    }
}
