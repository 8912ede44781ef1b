internal import CSystemShim
internal import Glibc
public import Model
internal import SystemCalls

/// What a query tells.
public enum MetadataUpdate: Sendable {
    /// The first results.
    case gathered([FoundItem])
    /// How the results became others, and what they are now.
    case changed(ListDifference, [FoundItem])
    /// The mount went away, or the folder outside of mounts; nothing more comes. Says why.
    case ended(String)
}

/// Documents by what is known of them, and how they change while it runs.
///
/// In a mounted container the daemon is asked and nothing is opened or fetched; elsewhere, and in the mount
/// of another user, the folder is gone through and watched by inotify(7). Changes come as one batch when
/// nothing has happened for 100 ms, or after a second at the latest; in a container the first after a quiet
/// time comes at once. Any thread. One that was started is kept until ``stop()``.
public final class MetadataQuery: Sendable {
    private struct State {
        var results: [FoundItem] = []
        var disabled = 0
        var hasEnded = false
        /// Something is being told, or about to be.
        var isTelling = false
        /// There is a source that is followed.
        var isFollowing = false
    }
    /// Changes gather until nothing has happened for so long, in milliseconds ...
    private static let quiet: Int32 = 100
    /// ... but no longer than this.
    private static let patience: UInt64 = 1_000
    /// How long ``stop()`` waits for the source to be let go, in milliseconds.
    private static let parting: UInt64 = 1_000

    private let make: @Sendable () throws(Failure) -> any QuerySource
    private let notify: @Sendable (MetadataUpdate) -> Void
    private let state = Monitor(State())
    private let bell: OwnedDescriptor

    /// - Parameters:
    ///   - query: what is looked for; its `folder` does not count.
    ///   - folder: below which.
    ///   - notify: told of the results and their changes, on a thread of the query's.
    public convenience init(
        _ query: Query, below folder: String,
        _ notify: @escaping @Sendable (MetadataUpdate) -> Void = { _ in }
    ) throws(DocumentProblem) {
        let place: ItemPlace
        do throws(CoordinationError) {
            guard let resolved = MountTable.resolved(folder) else {
                throw .badPath(folder, "\(Errno.last)")
            }
            place = try ItemPlace(resolved)
        } catch { throw .file("\(folder): there is no such folder") }
        var query = query
        query.folder = place.relative
        let asked = query
        if let point = place.servingMount {
            try self.init({ () throws(Failure) in try MountQuery(asked, in: point) }, notify)
        } else {
            try self.init(
                { () throws(Failure) in try FolderQuery(asked, in: place.absolute) }, notify)
        }
    }

    /// A query of a mount; its folder is below the mount.
    package convenience init(
        _ query: Query, in mountPoint: String,
        _ notify: @escaping @Sendable (MetadataUpdate) -> Void
    ) throws(DocumentProblem) {
        try self.init({ () throws(Failure) in try MountQuery(query, in: mountPoint) }, notify)
    }

    private init(
        _ make: @escaping @Sendable () throws(Failure) -> any QuerySource,
        _ notify: @escaping @Sendable (MetadataUpdate) -> Void
    ) throws(DocumentProblem) {
        self.make = make
        self.notify = notify
        do throws(Errno) {
            bell = OwnedDescriptor(adopting: try check { shim_signal_descriptor() })
        } catch { throw .file("eventfd: \(error)") }
    }

    /// What a query of a mount finds now, and why some may be missing.
    package static func find(_ query: Query, in mountPoint: String) throws(Failure)
        -> (results: [FoundItem], problem: String?)
    {
        var results: [FoundItem] = []
        let prefix = mountPoint + "/"
        let problem = try find(query, in: mountPoint) { results.append($0.item(below: prefix)) }
        return (results, problem)
    }

    /// As the other one, each result as text for those who print it; why some may be missing.
    ///
    /// - Parameter body: takes a result. If this throws, it has had some of them only.
    package static func find(
        _ query: Query, in mountPoint: String, _ body: (FoundText) -> Void
    ) throws(Failure) -> String? {
        try FindFile.read(query, in: mountPoint, body)
    }

    /// What was told last.
    public var results: [FoundItem] { state.withLock { $0.results } }

    /// Gathers, tells the results, and goes on until ``stop()``. To be called once.
    ///
    /// - Throws: `file` if the folder cannot be looked at.
    public func start() throws(DocumentProblem) {
        do throws(Failure) { try begin() } catch { throw .file(error.message) }
    }

    /// As ``start()``.
    package func begin() throws(Failure) {
        let made = try make()
        let first = try made.results()
        let source = Handover(made)
        state.withLock { state in
            state.results = first
            state.isFollowing = true
        }
        Threads.start("query") { [self] in
            tell(.gathered(first))
            if let problem = follow(source) { tell(.ended(problem.message)) }
        }
    }

    /// Tells nothing from now on; what is being told may still come to its end. Otherwise nothing is watched
    /// any more when this returns.
    public func stop() {
        state.withLock { $0.hasEnded = true }
        ring()
        // A user has few queues of inotify. What is told may be what ends it, or wait for who does.
        let _: Bool? = state.wait(until: MonotonicClock.after(milliseconds: Self.parting)) {
            !$0.isFollowing || $0.isTelling ? true : nil
        }
    }

    /// The results stay as they are until the matching ``enableUpdates()``. Calls nest.
    public func disableUpdates() { state.withLock { $0.disabled += 1 } }

    /// Ends what ``disableUpdates()`` began: what changed since is told as one batch.
    public func enableUpdates() {
        state.withLock { $0.disabled = max(0, $0.disabled - 1) }
        ring()
    }

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell.number, &one, 8)
    }

    // MARK: The query's thread

    /// A source on its way from the thread that made it to the one that uses it.
    private final class Handover: @unchecked Sendable {
        // Unchecked because the first thread does not touch it afterwards.
        private var value: (any QuerySource)?
        init(_ value: any QuerySource) { self.value = value }
        func take() -> (any QuerySource)? { value.take() }
    }

    /// Tells unless it has ended.
    private func tell(_ update: MetadataUpdate) {
        let isWanted = state.withLock { state in
            state.isTelling = !state.hasEnded
            return state.isTelling
        }
        if isWanted { notify(update) }
        state.signal { $0.isTelling = false }
    }

    /// Returns when it has ended, or why nothing more comes. The source is gone then.
    private func follow(_ handover: Handover) -> Failure? {
        defer { state.signal { $0.isFollowing = false } }
        do throws(Failure) { try follow(handover.take()) } catch { return error }
        return nil
    }

    private func follow(_ source: (any QuerySource)?) throws(Failure) {
        guard let source else { return }
        // What came with the first results is here already: nothing would wake this for it.
        var isBehind = try source.take()
        while true {
            let (hasEnded, isDisabled) = state.withLock { ($0.hasEnded, $0.disabled > 0) }
            if hasEnded { return }
            if isBehind, !isDisabled {
                isBehind = false
                let (known, now) = source.update()
                let difference = state.withLock { state in
                    defer { state.results = now }
                    // A document with several names is there as often.
                    return known ?? ListDifference(from: state.results, to: now, by: \.item)
                }
                if !difference.isEmpty { tell(.changed(difference, now)) }
            }
            if try wait(source) { isBehind = true }
        }
    }

    /// Returns when the bell rang, or something has happened, which is true, and then nothing.
    private func wait(_ source: any QuerySource) throws(Failure) -> Bool {
        var entries = [
            pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, 2, -1)
        if entries[1].revents != 0 {
            var count: UInt64 = 0
            _ = read(bell.number, &count, 8)
            return false
        }
        let deadline = MonotonicClock.after(milliseconds: Self.patience)
        var isNews = false
        repeat {
            if try source.take() { isNews = true }
            entries[0].revents = 0
        } while !source.isBatched && poll(&entries, 1, Self.quiet) > 0
            && MonotonicClock.now < deadline
        return isNews
    }
}
