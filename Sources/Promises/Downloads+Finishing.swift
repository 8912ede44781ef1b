internal import Content
internal import Glibc
internal import SystemCalls

/// Small foreign contents that have come are taken over some at a time: each has to be on the disk
/// before it counts as the container's own, and the disk makes many durable in nearly the time of one.
/// Whoever opens a content does not wait for that; those who come next would for the processor, so
/// that it is put off while more are coming.
extension Downloads {
    /// After so long without another one, in milliseconds, they are taken over.
    private static let gathering: UInt64 = 200
    /// The first of them does not wait longer than this, in milliseconds.
    private static let longestGathering: UInt64 = 2_000
    /// Contents at a time.
    private static let batch = 64
    /// What waits for that is bounded; when there is so much others do not begin to come.
    struct Queued {
        /// Contents with an open file.
        private var files = 0
        /// Bytes of those in memory.
        private var bytes: Int64 = 0
        private static let mostFiles = max(batch / 2, Descriptors.share)
        private static let mostBytes: Int64 = 16 << 20

        var isFull: Bool { files >= Self.mostFiles || bytes >= Self.mostBytes }
        /// To be taken over before it is full.
        var isMuch: Bool { files >= Self.mostFiles / 2 || bytes >= Self.mostBytes / 2 }

        /// - Parameter sign: -1 when it is taken over.
        mutating func count(_ download: Download, _ sign: Int = 1) {
            if download.incoming?.hasFile ?? true {
                files += sign
            } else {
                bytes += Int64(sign) * download.blob.size
            }
        }
    }

    /// Contents that are whole and have not been taken over.
    struct Finished {
        var contents: [Download] = []
        /// When the first of them came, and the last.
        var since: UInt64 = 0
        var latest: UInt64 = 0
        /// Somebody is taking them over.
        var isWorked = false
        /// Somebody waits for one of them, or for the end of it all; or there are many.
        var isUrgent = false
    }

    /// Puts a content that is whole into the queue.
    func queue(_ download: Download, _ state: inout State) {
        state.queued.count(download)
        let isMuch = state.queued.isMuch
        let starts = finished.withLock { finished -> Bool in
            finished.latest = MonotonicClock.now
            if finished.contents.isEmpty { finished.since = finished.latest }
            finished.contents.append(download)
            if isMuch { finished.isUrgent = true }
            defer { finished.isWorked = true }
            return !finished.isWorked
        }
        if isMuch { finished.signalOne() }
        if !starts { return }
        state.workers += 1
        Threads.start("adoption") { [self] in
            takeOver()
            self.state.signal { $0.workers -= 1 }
        }
    }

    private func takeOver() {
        while true {
            gather()
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
            finish(Array(zip(batch, landings)))
            state.signal { for download in batch { $0.queued.count(download, -1) } }
        }
    }

    /// Returns when it is time to take over what has come.
    private func gather() {
        while true {
            let ripe = finished.withLock {
                min(
                    $0.since + Self.longestGathering * 1_000_000,
                    $0.latest + Self.gathering * 1_000_000)
            }
            if ripe <= MonotonicClock.now { return }
            if finished.wait(until: ripe, { $0.isUrgent ? true : nil }) != nil { return }
        }
    }
}
