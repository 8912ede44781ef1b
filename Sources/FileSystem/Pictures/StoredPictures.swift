internal import Model
internal import Pictures
internal import Stores
internal import SystemCalls

/// Pictures in the container's store, beside the contents that they show: so a promise has its picture
/// where its content never was. See the page Pictures.
///
/// Any thread. What has to go there is not kept: it goes when the content went, when the picture was
/// made, or when the content is let go here, whichever comes last; what was lost on the way is only
/// missing.
final class StoredPictures: Sendable {
    /// Pictures that wait to be uploaded at most.
    private static let waitingLimit = 65_536
    /// Uploads that are remembered, so that they are not repeated in this mount.
    private static let rememberedLimit = 16_384

    private struct Job: Sendable {
        var node: NodeNumber
        var companion: Companion
    }
    private struct State {
        var waiting: [Job] = []
        var isWorking = false
        var uploaded = Recent<NodeNumber, Bool>(limit: rememberedLimit)
        var ended = false
        var fetchedBytes = 0
    }

    private let store: any ContentStore
    private let state = Monitor(State())
    private let fetches = PictureFetches()
    /// Ends the uploads.
    private let cancellation = Cancellation()

    init(_ store: any ContentStore) { self.store = store }

    /// Bytes of pictures that came from the store.
    var fetchedBytes: Int { state.withLock { $0.fetchedBytes } }
    /// Pictures that wait or are on their way to it.
    var uploads: Int { state.withLock { $0.waiting.count + ($0.isWorking ? 1 : 0) } }

    /// Ends the calls; what has not gone does not go.
    func stop() {
        state.signal { state in
            state.ended = true
            state.waiting = []
        }
        fetches.stop()
        cancellation.cancel()
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0.isWorking ? nil : true
        }
    }

    // MARK: From the store

    /// Whether the store may have a picture of the version.
    func mayHave(_ node: NodeNumber) -> Bool { fetches.mayAsk(node) }

    /// The file of a version's pictures; nil if there is none, or it cannot be had now.
    func fetch(_ node: NodeNumber, _ hash: ContentHash, _ type: PictureType) -> [UInt8]? {
        guard mayHave(node), let companion = Companion(picturesOf: hash, type) else { return nil }
        return fetches.fetch(node) { call throws(StoreError) in
            guard let file = try store.get(companion, call), PictureMaker.accepts(file, as: type)
            else {
                fetches.skip(node)
                return nil
            }
            state.withLock { state in
                state.fetchedBytes += file.count
                state.uploaded.insert(true, for: node, weight: 1)
            }
            return file
        }
    }

    // MARK: To the store

    /// Brings a version's pictures to the store, in the background; nothing if they went in this mount.
    ///
    /// - Parameter file: gives the pictures when it is their turn; nil if they are gone.
    func upload(
        _ node: NodeNumber, _ hash: ContentHash, _ type: PictureType,
        _ file: @escaping @Sendable (NodeNumber) -> [UInt8]?
    ) {
        guard let companion = Companion(picturesOf: hash, type) else { return }
        let starts = state.signal { state -> Bool in
            guard !state.ended, state.waiting.count < Self.waitingLimit,
                state.uploaded[node] == nil
            else { return false }
            state.uploaded.insert(true, for: node, weight: 1)
            state.waiting.append(Job(node: node, companion: companion))
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if starts { Threads.start("picture upload") { [self] in work(file) } }
    }

    private func work(_ file: @Sendable (NodeNumber) -> [UInt8]?) {
        while let job = take() {
            guard let bytes = file(job.node) else { continue }
            let call = StoreCall(cancellation: cancellation, urgency: Urgency(awaited: false))
            do throws(StoreError) { try store.put(job.companion, bytes, call) } catch {
                state.signal { state in
                    // When its content is let go it gets another try.
                    guard error.isTransient, !state.ended else {
                        state.uploaded.remove(job.node)
                        return
                    }
                    fetches.rest()
                    state.waiting.append(job)
                }
            }
        }
    }

    private func take() -> Job? {
        while true {
            let until = max(fetches.pausedUntil, MonotonicClock.now)
            let found = state.wait(until: until) { state -> Job?? in
                if state.ended || state.waiting.isEmpty {
                    state.isWorking = false
                    return .some(nil)
                }
                if until > MonotonicClock.now { return nil }
                return .some(state.waiting.removeFirst())
            }
            guard let found else { continue }
            if found == nil { state.signal { _ in } }
            return found
        }
    }
}
