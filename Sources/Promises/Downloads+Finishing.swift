internal import Content
internal import Glibc
internal import SystemCalls

/// Small foreign contents that have come are taken over some at a time: each has to be on the disk
/// before it counts as the container's own, and the disk makes many durable in nearly the time of one.
/// Whoever opens a content does not wait for that; those who come next would for the processor.
extension Downloads {
    /// Others are waited for so long, in milliseconds, unless somebody waits for one of them.
    private static let gathering: UInt64 = 200
    /// Contents at a time.
    private static let batch = 64
    /// As many wait for that at most, since each has a file open; others do not begin to come.
    static let mostQueued = max(batch / 2, Descriptors.share)

    /// Contents that are whole and have not been taken over.
    struct Finished {
        var contents: [Download] = []
        /// When the first of them came.
        var since: UInt64 = 0
        /// Somebody is taking them over.
        var isWorked = false
        /// Somebody waits for one of them, or for the end of it all.
        var isUrgent = false
    }

    /// Puts a content that is whole into the queue.
    func queue(_ download: Download, _ state: inout State) {
        let starts = finished.signal { finished -> Bool in
            if finished.contents.isEmpty { finished.since = MonotonicClock.now }
            finished.contents.append(download)
            defer { finished.isWorked = true }
            return !finished.isWorked
        }
        state.queued += 1
        if !starts { return }
        state.workers += 1
        Threads.start("adoption") { [self] in
            takeOver()
            self.state.signal { $0.workers -= 1 }
        }
    }

    private func takeOver() {
        while true {
            let ripe = finished.withLock { $0.since + Self.gathering * 1_000_000 }
            let _: Bool? = finished.wait(until: ripe) {
                $0.isUrgent || $0.contents.count >= min(Self.batch, Self.mostQueued) ? true : nil
            }
            let batch = finished.withLock { finished -> [Download] in
                let batch = Array(finished.contents.prefix(Self.batch))
                finished.contents.removeFirst(batch.count)
                if finished.contents.isEmpty { finished.isUrgent = false }
                if batch.isEmpty { finished.isWorked = false }
                return batch
            }
            if batch.isEmpty { return }
            // All are being written before the first is waited for.
            let landings = batch.map { download -> Result<Void, Errno> in
                Result { () throws(Errno) in try download.incoming?.land() }
            }
            for (download, landing) in zip(batch, landings) { finish(download, landing) }
            state.signal { $0.queued -= batch.count }
        }
    }
}
