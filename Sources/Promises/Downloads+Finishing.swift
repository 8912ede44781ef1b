internal import Content
internal import Glibc
internal import SystemCalls

/// Small foreign contents that have come are taken over some at a time: each has to be on the disk
/// before it counts as the container's own, and the disk makes many durable in nearly the time of one.
extension Downloads {
    /// Others are waited for so long, in milliseconds, unless somebody waits for one of them.
    private static let gathering: UInt64 = 50
    /// Contents at a time.
    private static let batch = 64

    /// Contents that are whole and have not been taken over.
    struct Finished {
        var contents: [Download] = []
        /// When the first of them came.
        var since: UInt64 = 0
        /// Somebody is taking them over.
        var isWorked = false
    }

    /// Puts a content that is whole into the queue.
    func queue(_ download: Download, _ state: inout State) {
        if state.finished.contents.isEmpty { state.finished.since = MonotonicClock.now }
        state.finished.contents.append(download)
        if state.finished.isWorked { return }
        state.finished.isWorked = true
        state.workers += 1
        Threads.start("adoption") { [self] in takeOver() }
    }

    private func takeOver() {
        while true {
            let ripe = state.withLock { $0.finished.since + Self.gathering * 1_000_000 }
            let _: Bool? = state.wait(until: ripe) { state in
                state.ended || state.finished.contents.count >= Self.batch
                    || state.finished.contents.contains { !$0.waiters.isEmpty } ? true : nil
            }
            let batch = state.signal { state -> [Download] in
                let batch = Array(state.finished.contents.prefix(Self.batch))
                state.finished.contents.removeFirst(batch.count)
                if batch.isEmpty {
                    state.finished.isWorked = false
                    state.workers -= 1
                }
                return batch
            }
            if batch.isEmpty { return }
            // All are being written before the first is waited for.
            for download in batch {
                _ = try? download.incoming?.file.with { (file) throws(Errno) in file.startWriting()
                }
            }
            for download in batch { finish(download) }
        }
    }
}
