internal import Content
internal import Glibc
package import Logging
package import Model
package import Stores
internal import SystemCalls

/// Lists the store now and then. What it has lost and is here goes there again, so that nothing is let go for
/// a copy that is gone. Blobs that no version has needed for a while are removed, and as long after it was seen
/// first what cut-off puts left there, if the container owns the store (``StoreOwnership``). A thread of its
/// own; nobody waits for it.
package final class StoreCleaning: Sendable {
    /// Blobs of a page of the listing, and the most that are remembered: the others' time begins later.
    private static let page = 1_000
    private static let most = 100_000
    /// It looks this often, or more often if the grace is short, in seconds.
    private static let pace: Int64 = 86_400
    /// The first time not before this, in seconds.
    private static let first: Int64 = 600
    /// Contents that a listing may leave out though they are there: then it is not worth comparing.
    private static let patience = 100
    /// The words of a remnant's line, of a removal's and of a doubt's, which no hash is.
    private static let remnant = "remnant"
    private static let removal = "removal"
    private static let doubt = "doubt"

    private let store: any ContentStore
    private let ownership: StoreOwnership
    private let uploads: Uploads
    private let path: String
    private let grace: Int64
    private let logger: Logger
    /// Tells how long ago the mark was looked at.
    private let clock: @Sendable () -> UInt64
    private let clocks: @Sendable () -> Clocks
    /// Seconds after the mount.
    private let secondLook: Int64
    /// Which of these a version refers to; `nil` if that cannot be said.
    private let needed: @Sendable ([ContentHash]) -> [Bool]?
    /// Contents that are here and count as stored, the next ones after a hash; none after the last, `nil` if that
    /// cannot be said.
    private let stored: @Sendable (ContentHash?) -> [Blob]?
    /// The store does not have one of them.
    private let lost: @Sendable (Blob) -> Void
    private let cancellation = Cancellation()
    private let isRunning = Monitor(false)

    /// - Parameters:
    ///   - path: of the file that keeps since when blobs are not needed, and remnants there, and what the store
    ///     has not confirmed to have removed.
    ///   - grace: seconds that a blob stays after that; 0: for ever.
    ///   - clock: nanoseconds, also those in which the machine sleeps: others come to the store meanwhile.
    ///   - clocks: tells how long something has been so in this mount and others.
    ///   - secondLook: when the mark is looked at again after the mount, in seconds: before another owner would
    ///     remove anything.
    package init(
        _ store: any ContentStore, _ ownership: StoreOwnership, _ uploads: Uploads, path: String,
        grace: Int64, logger: Logger, clock: @escaping @Sendable () -> UInt64 = { BootClock.now },
        clocks: @escaping @Sendable () -> Clocks = { Clocks() },
        secondLook: Int64 = 30,
        stored: @escaping @Sendable (_ after: ContentHash?) -> [Blob]? = { _ in [] },
        lost: @escaping @Sendable (Blob) -> Void = { _ in },
        needed: @escaping @Sendable ([ContentHash]) -> [Bool]?
    ) {
        self.store = store
        self.ownership = ownership
        self.uploads = uploads
        self.path = path
        self.grace = grace
        self.logger = logger
        self.clock = clock
        self.clocks = clocks
        self.secondLook = secondLook
        self.stored = stored
        self.lost = lost
        self.needed = needed
    }

    /// Begins to look through the store now and then; without a grace nothing is removed. To be called before
    /// anything is put.
    package func start() {
        doubtEarlierRemovals()
        isRunning.withLock { $0 = true }
        Threads.start("cleaning", yielding: true) { [self] in
            askWhoseItIs()
            let least = grace > 0 ? max(1, grace / 2) : .max
            var pause = min(Self.first, least)
            if secondLook < pause, !ownership.isUncompared {
                lookAgain()
                pause -= secondLook
            }
            // What waits to be compared is not let go meanwhile.
            if ownership.isUncompared { pause = 0 }
            while rests(pause) {
                do throws(StoreError) { try look() } catch {
                    if error.kind != .cancelled {
                        logger.info("the store was not looked through: \(error)")
                    }
                }
                pause = min(ownership.isUncompared ? Self.first : Self.pace, least)
            }
            isRunning.signal { $0 = false }
        }
    }

    /// The mount before may have ended, or have been killed, while the store had not confirmed what it was to
    /// remove: it may carry that out yet.
    private func doubtEarlierRemovals() {
        // What cannot be read ends each look at the store, too; it is no reason not to mount.
        guard var known = try? remembered() else { return }
        let now = clocks()
        known.endRemovals(now)
        // What cannot be kept is in doubt for the whole time again.
        try? remember(known)
        for (hash, since) in known.doubts {
            uploads.doubt(hash, for: Uploads.longestDoubt - (now.passed(since: since) ?? 0))
        }
    }

    /// Finds out who owns the store if nothing may be let go before. A store that does not answer is asked
    /// again after waits that double up to a minute.
    private func askWhoseItIs() {
        var pause: Int64 = 1
        while !ownership.isKnown, ownership.isUncompared {
            let call = StoreCall(cancellation: cancellation, urgency: Urgency(awaited: false))
            if (try? ownership.isOwner(call)) != nil || !rests(pause) { return }
            pause = min(2 * pause, 60)
        }
    }

    /// A clone of this container's disk, mounted at the same moment, may have put its mark over the one of this
    /// mount: neither has seen the other.
    private func lookAgain() {
        guard rests(secondLook) else { return }
        let call = StoreCall(cancellation: cancellation, urgency: Urgency(awaited: false))
        _ = try? ownership.isStillOwner(call)
    }

    /// Ends it. Returns when it has ended, or after 5 s.
    package func stop() {
        cancellation.cancel()
        let _: Bool? = isRunning.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0 ? nil : true
        }
    }

    /// Waits; says whether it goes on.
    private func rests(_ seconds: Int64) -> Bool {
        (try? cancellation.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000, at: "")) != nil
    }

    private func look() throws(StoreError) {
        let call = StoreCall(cancellation: cancellation, urgency: Urgency(awaited: false))
        let removes = try ownership.isStillOwner(call) && grace > 0
        let known = try remembered()
        let moment = clocks()
        let now = Int64(clamping: moment.day)
        var found = Since()
        var last: ContentHash?
        var wrong = 0
        while true {
            let page = try store.list(after: last, limit: Self.page, call)
            try compare(page, after: last, &wrong, call)
            if page.isLast, wrong < Self.patience { try ownership.noteCompared() }
            let hashes = page.blobs.map(\.hash)
            guard removes else {
                if page.isLast { return }
                last = hashes.last ?? last
                continue
            }
            guard let needed = needed(hashes) else { return }
            for (hash, isNeeded) in zip(hashes, needed) where !isNeeded {
                if found.blobs.count < Self.most {
                    found.blobs[hash] = min(known.blobs[hash] ?? now, now)
                }
            }
            last = hashes.last ?? last
            if page.isLast { break }
        }
        do throws(StoreError) {
            try store.sweep(
                { (remnant) throws(StoreError) in
                    let since = min(known.remnants[remnant.name] ?? now, now)
                    if since <= now - grace, isGivenUp(remnant) { return true }
                    if found.remnants.count < Self.most { found.remnants[remnant.name] = since }
                    return false
                }, call)
        } catch {
            if error.kind == .cancelled { throw error }
            // Not every server tells of them, nor everybody; blobs go all the same.
            logger.info("what is left of uploads was not looked for: \(error)")
            found.remnants.merge(known.remnants) { since, _ in since }
        }
        let gone = found.blobs.filter { $0.value <= now - grace }.map(\.key)
        (found.removals, found.doubts) = (known.removals, known.doubts)
        found.endRemovals(moment)
        // If the daemon dies in between, the store may yet remove any of them.
        var begun = found
        for hash in gone { begun.removals[hash] = now }
        try remember(begun)
        if !gone.isEmpty {
            var unconfirmed: ContentHash?
            let result = Result { () throws(StoreError) in try remove(gone, &unconfirmed, call) }
            if let unconfirmed { found.doubts[unconfirmed] = clocks() }
            try remember(found)
            try result.get()
        }
        if found.doubts.isEmpty { try ownership.endRemovals(call) }
    }

    /// Looks for what counts as stored and is not in a page of the listing that should have it.
    ///
    /// - Parameter wrong: how often the store had what it did not list.
    private func compare(
        _ page: BlobPage, after start: ContentHash?, _ wrong: inout Int, _ call: StoreCall
    ) throws(StoreError) {
        let sizes = Dictionary(page.blobs.map { ($0.hash, $0.size) }) { first, _ in first }
        let end = page.isLast ? nil : page.blobs.last?.hash
        var last = start
        while wrong < Self.patience {
            guard let blobs = stored(last) else {
                throw StoreError(.local, at: path, "what counts as stored cannot be read")
            }
            for blob in blobs where sizes[blob.hash] != blob.size {
                if let end, blob.hash.description > end.description { return }
                // It may have been put since.
                guard try store.stat(blob.hash, call) != blob.size else {
                    wrong += 1
                    continue
                }
                logger.warning("\(store.address) has lost \(blob.hash)")
                lost(blob)
            }
            guard let next = blobs.last?.hash else { return }
            if let end, next.description >= end.description { return }
            last = next
        }
    }

    /// Whether nobody is putting the blob of a remnant, and nobody will go on with it. Another put may
    /// begin at once, but none goes on with what has been here for the whole grace and is not needed.
    private func isGivenUp(_ remnant: Remnant) -> Bool {
        guard uploads.reserve(remnant.hash) else { return false }
        defer { uploads.release(remnant.hash) }
        return !remnant.isResumable || needed([remnant.hash]) == [false]
    }

    /// - Parameter unconfirmed: what the store may yet remove.
    private func remove(
        _ hashes: [ContentHash], _ unconfirmed: inout ContentHash?, _ call: StoreCall
    ) throws(StoreError) {
        var looked: UInt64 = 0
        for hash in hashes {
            if clock() - looked > StoreOwnership.pace {
                guard try ownership.renew(call) else { return }
                looked = clock()
            }
            // It is not put while it is removed; what is put later is recorded as needed before.
            guard uploads.reserve(hash) else { continue }
            defer { uploads.release(hash) }
            guard needed([hash]) == [false] else { continue }
            var call = call
            call.cancellation = Cancellation(
                deadline: MonotonicClock.now + StoreOwnership.notice / 2 - StoreOwnership.pace)
            do throws(StoreError) { try store.delete(hash, call) } catch {
                uploads.doubt(hash)
                unconfirmed = hash
                throw error
            }
            logger.info("\(hash) was removed from the store: nothing has needed it for a while")
        }
    }

    // MARK: Since when

    /// Moments of ``WallClock``, in seconds.
    private struct Since {
        /// Blobs that are not needed.
        var blobs: [ContentHash: Int64] = [:]
        /// Remnants, by their names.
        var remnants: [String: Int64] = [:]
        /// Blobs that the store was to remove then, or later, and has not confirmed.
        var removals: [ContentHash: Int64] = [:]
        /// Those that it was not asked to remove any more after that.
        var doubts: [ContentHash: Clocks] = [:]

        /// Nobody removes anything any more. What has been in doubt for long is not.
        mutating func endRemovals(_ now: Clocks) {
            for hash in removals.keys { doubts[hash] = now }
            removals = [:]
            doubts = doubts.compactMapValues { since in
                guard let passed = now.passed(since: since) else { return now }
                return passed < Uploads.longestDoubt ? since : nil
            }
        }
    }

    private func remembered() throws(StoreError) -> Since {
        var found = Since()
        for line in try SmallFile.text(path).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            if words.count == 3, words[0] == Self.doubt {
                guard let hash = ContentHash(name: words[2]) else { continue }
                // A moment that cannot be read is one to come: the time begins anew.
                found.doubts[hash] = Clocks(words[1]) ?? Clocks(day: .max, boot: .max)
                continue
            }
            guard words.count >= 2, let since = Int64(words[1]) else { continue }
            if words.count == 3, words[0] == Self.remnant {
                found.remnants[String(words[2])] = since
            } else if words.count == 3, words[0] == Self.removal {
                if let hash = ContentHash(name: words[2]) { found.removals[hash] = since }
            } else if words.count == 2, let hash = ContentHash(name: words[0]) {
                found.blobs[hash] = since
            }
        }
        return found
    }

    private func remember(_ found: Since) throws(StoreError) {
        let lines =
            found.blobs.map { "\($0.key) \($0.value)\n" }
            + found.remnants.map { "\(Self.remnant) \($0.value) \($0.key)\n" }
            + found.removals.map { "\(Self.removal) \($0.value) \($0.key)\n" }
            + found.doubts.map { "\(Self.doubt) \($0.value.text) \($0.key)\n" }
        try SmallFile.replace(path, lines.joined())
    }
}
