internal import SystemCalls

/// That an open handle was told that blocks do not come.
///
/// The kernel asks again at once for a page that it could not read ahead, and a page fault a third
/// time: each would wait for as long as the first. For a moment they get the same answer.
struct Refusal {
    let handle: UInt64
    let blocks: Range<Int>
    let problem: ContentProblem
    /// On the ``MonotonicClock``; a read after that tries again.
    let end: UInt64

    /// For how long it is remembered with a store that is given up after `patience` seconds; in
    /// milliseconds.
    static func duration(_ patience: Double) -> UInt64 {
        UInt64(min(max(patience, 0) / 4, 2) * 1000)
    }
}

extension Download {
    /// What the handle was told a moment ago about one of these blocks.
    func refusal(of blocks: Range<Int>, to handle: UInt64?) -> ContentProblem? {
        guard let handle, !refusals.isEmpty else { return nil }
        let now = MonotonicClock.now
        refusals.removeAll { $0.end <= now }
        return refusals.first { $0.handle == handle && $0.blocks.overlaps(blocks) }?.problem
    }

    /// Notes what those who waited for blocks are told.
    ///
    /// - Parameter all: nothing of the content comes for now, not only what they waited for.
    func refuse(
        _ waiters: [DownloadWaiter], _ problem: ContentProblem, all: Bool = false,
        milliseconds: UInt64
    ) {
        let now = MonotonicClock.now
        refusals.removeAll { $0.end <= now }
        for waiter in waiters {
            guard let handle = waiter.handle, let blocks = waiter.blocks else { continue }
            refusals.append(
                Refusal(
                    handle: handle, blocks: all ? 0..<Int.max : blocks, problem: problem,
                    end: now + milliseconds * 1_000_000))
        }
    }
}
