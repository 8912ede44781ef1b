internal import Content
internal import Glibc
package import Logging
package import Model
package import Stores
internal import SystemCalls

/// Removes blobs from the store that no version has needed for a while, and as long after it was seen
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
    /// The word of a remnant's line, which no hash is.
    private static let remnant = "remnant"

    private let store: any ContentStore
    private let ownership: StoreOwnership
    private let uploads: Uploads
    private let path: String
    private let grace: Int64
    private let logger: Logger
    /// Which of these a version refers to; `nil` if that cannot be said.
    private let needed: @Sendable ([ContentHash]) -> [Bool]?
    private let cancellation = Cancellation()
    private let isRunning = Monitor(false)

    /// - Parameters:
    ///   - path: of the file that keeps since when blobs are not needed, and remnants there.
    ///   - grace: seconds that a blob stays after that; 0: for ever.
    package init(
        _ store: any ContentStore, _ ownership: StoreOwnership, _ uploads: Uploads, path: String,
        grace: Int64, logger: Logger, needed: @escaping @Sendable ([ContentHash]) -> [Bool]?
    ) {
        self.store = store
        self.ownership = ownership
        self.uploads = uploads
        self.path = path
        self.grace = grace
        self.logger = logger
        self.needed = needed
    }

    /// Begins; nothing without a grace.
    package func start() {
        guard grace > 0 else { return }
        isRunning.withLock { $0 = true }
        Threads.start("cleaning", yielding: true) { [self] in
            var pause = min(Self.first, max(1, grace / 2))
            while rests(pause) {
                do throws(StoreError) { try look() } catch {
                    if error.kind != .cancelled {
                        logger.info("the store was not cleaned: \(error)")
                    }
                }
                pause = min(Self.pace, max(1, grace / 2))
            }
            isRunning.signal { $0 = false }
        }
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
        guard try ownership.isStillOwner(call) else { return }
        let known = remembered()
        let now = WallClock.now.seconds
        var found = Since()
        var last: ContentHash?
        while true {
            let page = try store.list(after: last, limit: Self.page, call)
            let hashes = page.blobs.map(\.hash)
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
        try remember(found)
        try remove(found.blobs.filter { $0.value <= now - grace }.map(\.key), call)
    }

    /// Whether nobody is putting the blob of a remnant, and nobody will go on with it. Another put may
    /// begin at once, but none goes on with what has been here for the whole grace and is not needed.
    private func isGivenUp(_ remnant: Remnant) -> Bool {
        guard uploads.reserve(remnant.hash) else { return false }
        defer { uploads.release(remnant.hash) }
        return !remnant.isResumable || needed([remnant.hash]) == [false]
    }

    private func remove(_ hashes: [ContentHash], _ call: StoreCall) throws(StoreError) {
        var looked: UInt64 = 0
        for hash in hashes {
            if MonotonicClock.now - looked > StoreOwnership.pace {
                guard try ownership.isStillOwner(call) else { return }
                looked = MonotonicClock.now
            }
            // It is not put while it is removed; what is put later is recorded as needed before.
            guard uploads.reserve(hash) else { continue }
            defer { uploads.release(hash) }
            guard needed([hash]) == [false] else { continue }
            var call = call
            call.cancellation = Cancellation(deadline: looked + StoreOwnership.notice / 2)
            do throws(StoreError) { try store.delete(hash, call) } catch {
                uploads.doubt(hash)
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
    }

    private func remembered() -> Since {
        var found = Since()
        for line in SmallFile.text(path).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, let since = Int64(words[1]) else { continue }
            if words.count == 3, words[0] == Self.remnant {
                found.remnants[String(words[2])] = since
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
        do throws(Errno) { try SmallFile.replace(path, lines.joined()) } catch {
            throw StoreError(.local, at: path, "\(error)")
        }
    }
}
