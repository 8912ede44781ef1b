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
/// time comes at once. Any thread. One that was started is kept until ``stop()``, and can be started again then.
public final class MetadataQuery: Sendable {
    private struct State {
        var results: [FoundItem] = []
        var disabled = 0
        /// What tells, from ``start()`` to ``stop()``.
        var run: QueryRun?
    }

    private let make: @Sendable () throws(Failure) -> any QuerySource
    private let notify: @Sendable (MetadataUpdate) -> Void
    private let state = Lock(State())

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
            self.init({ () throws(Failure) in try MountQuery(asked, in: point) }, notify)
        } else {
            self.init(
                { () throws(Failure) in try FolderQuery(asked, in: place.absolute) }, notify)
        }
    }

    /// A query of a mount; its folder is below the mount.
    package convenience init(
        _ query: Query, in mountPoint: String,
        _ notify: @escaping @Sendable (MetadataUpdate) -> Void
    ) {
        self.init({ () throws(Failure) in try MountQuery(query, in: mountPoint) }, notify)
    }

    private init(
        _ make: @escaping @Sendable () throws(Failure) -> any QuerySource,
        _ notify: @escaping @Sendable (MetadataUpdate) -> Void
    ) {
        self.make = make
        self.notify = notify
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

    /// Gathers, tells the results, and goes on until ``stop()``. Does nothing while it runs already; after
    /// ``stop()``, and when it has ended, it begins anew.
    ///
    /// - Throws: `file` if the folder cannot be looked at.
    public func start() throws(DocumentProblem) {
        do throws(Failure) { try begin() } catch { throw .file(error.message) }
    }

    /// As ``start()``.
    package func begin() throws(Failure) {
        let run: QueryRun
        do throws(Errno) { run = try QueryRun(notify) } catch {
            throw Failure(.inputOutput, "eventfd: \(error)")
        }
        let isFirst = state.withLock { state in
            if state.run == nil { state.run = run }
            return state.run === run
        }
        if !isFirst { return }
        let made: any QuerySource
        let first: [FoundItem]
        do throws(Failure) {
            made = try make()
            first = try made.results()
        } catch {
            end(run)
            throw error
        }
        let source = QueryRun.Handover(made)
        // Who stops it while it gathers is told nothing.
        guard run.begin() else { return }
        state.withLock { $0.results = first }
        Threads.start("query") { [self] in
            run.tell(.gathered(first))
            let problem = run.follow(source) { update(run, $0) }
            end(run)
            if let problem { run.tell(.ended(problem.message)) }
        }
    }

    private func end(_ run: QueryRun) {
        state.withLock { if $0.run === run { $0.run = nil } }
    }

    /// Tells nothing from now on; what is being told may still come to its end. Otherwise nothing is watched
    /// any more when this returns. The results stay as they are.
    public func stop() { state.withLock { $0.run.take() }?.end() }

    /// The results stay as they are until the matching ``enableUpdates()``. Calls nest.
    public func disableUpdates() { state.withLock { $0.disabled += 1 } }

    /// Ends what ``disableUpdates()`` began: what changed since is told as one batch.
    public func enableUpdates() {
        let run = state.withLock { state in
            state.disabled = max(0, state.disabled - 1)
            return state.run
        }
        run?.ring()
    }

    /// Tells what has changed; false if that is to wait.
    private func update(_ run: QueryRun, _ source: any QuerySource) -> Bool {
        if state.withLock({ $0.disabled > 0 }) { return false }
        let (known, now) = source.update()
        let difference = state.withLock { state -> ListDifference in
            // Who has stopped it may have others by now.
            guard state.run === run else { return ListDifference() }
            defer { state.results = now }
            // A document with several names is there as often.
            return known ?? ListDifference(from: state.results, to: now, by: \.item)
        }
        if !difference.isEmpty { run.tell(.changed(difference, now)) }
        return true
    }
}
