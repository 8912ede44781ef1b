internal import Documents
internal import Glibc
internal import PathText
internal import SystemCalls
internal import Varlink

/// Reads and writes items without getting in the way of other programs, and they not in its.
///
/// In a mounted container by claims of its daemon; on any other file system, and in the mount of another
/// user, by flock(2) locks, which hold among programs that take them. What a coordinator does is of one
/// purpose: its own claims, also nested ones, never wait for one another, but for locks to write while there
/// are ones to read, and for locks of other programs. Any thread; the calls wait.
public final class FileCoordinator: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: ControlConnection] = [:]
        var isCancelled = false
    }
    /// Items that can be had in one step in a container, at most.
    static let mostItems = 256
    /// How long is waited for room among the clients of a mount, in milliseconds: they come and go.
    private static let crowding: UInt64 = 5_000
    /// How a command learns the purpose of the claim that it runs under.
    package static let purposeVariable = "SHAPEEDIT_PURPOSE"
    /// That purpose; `nil` for who runs under none.
    package static var inheritedPurpose: String? {
        guard let value = getenv(purposeVariable), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// The word that stands for its line of work. Coordinators of one purpose are one.
    public let purpose: String
    private let presentation: FilePresentation?
    private let state = Lock(State())

    /// - Parameters:
    ///   - purpose: a word that several coordinators share; by default one of its own.
    ///   - presentation: on whose behalf it works: that presenter is told nothing of what it
    ///     changes.
    public init(purpose: String? = nil, for presentation: FilePresentation? = nil) {
        self.purpose = purpose ?? "\(UInt64.random(in: .min ... .max))"
        self.presentation = presentation
    }

    /// Waits until all the items can be had, in one step, and runs `body` while it has them.
    ///
    /// - Parameters:
    ///   - limit: how long to wait, an hour at most.
    ///   - body: given the items' paths as they are now, in the same order: while it waited
    ///     somebody may have moved them. Where a symlink was named it is the path of what that
    ///     leads to (``FileIntent``).
    /// - Throws: what `body` throws, or ``CoordinationError``; `claimLost` if all went well but for
    ///   the claim.
    @discardableResult
    public func coordinate<Result>(
        _ intents: [FileIntent], waiting limit: Duration = .seconds(30),
        _ body: ([String]) throws -> Result
    ) throws -> Result {
        try coordinate(intents, waiting: limit, lending: false) { paths, _ in try body(paths) }
    }

    /// As ``coordinate(_:waiting:_:)``, for a command that the claim is for.
    ///
    /// - Parameter body: given what the command is to find in its environment: by that it, and what it
    ///   starts, do not wait for the claim.
    package func coordinateCommand<Result>(
        _ intents: [FileIntent], waiting limit: Duration,
        _ body: (_ environment: [String: String]) throws -> Result
    ) throws -> Result {
        try coordinate(intents, waiting: limit, lending: true) { _, lender in
            var environment = [Self.purposeVariable: purpose]
            // What is lent to this process is for its own purpose.
            if lender != nil || purpose != Self.inheritedPurpose {
                environment[LockLender.variable] = lender?.address ?? ""
            }
            return try body(environment)
        }
    }

    private func coordinate<Result>(
        _ intents: [FileIntent], waiting limit: Duration, lending: Bool,
        _ body: ([String], LockLender?) throws -> Result
    ) throws -> Result {
        let places = try intents.map { (intent) throws(CoordinationError) in
            (
                place: try ItemPlace(intent.path, following: intent.access.followsLinks),
                access: intent.access
            )
        }
        let milliseconds = Int(min(max(limit, .zero), .seconds(3_600)) / .milliseconds(1))
        let deadline = MonotonicClock.after(milliseconds: UInt64(milliseconds))
        let point = places.first?.place.mountPoint
        if let other = places.first(where: { $0.place.mountPoint != point }) {
            throw CoordinationError.severalContainers(
                places[0].place.absolute, other.place.absolute)
        }
        let owners = places.map { Self.owner(of: $0.place) }
        guard let point = places.first?.place.servingMount, lending || owners.contains(nil) else {
            let wanted = places.map { ($0.place.absolute, $0.access.writes) }
            return try underLocks(wanted, until: deadline, lending: lending, body)
        }
        if let (owner, place) = zip(owners, places).first(where: { $0.0 != nil }) {
            throw CoordinationError.badPath(
                place.place.absolute,
                "the container \(owner ?? "") has it: claims on it are made there")
        }
        if places.count > Self.mostItems {
            throw CoordinationError.badPath(
                places[Self.mostItems].place.absolute,
                "no more than \(Self.mostItems) items can be claimed in one step")
        }
        let (connection, reply) = try claim(
            places.map { ($0.place.relative, $0.access) }, until: deadline, at: point)
        let paths = reply.paths("paths").map { ItemPlace.absolute($0, in: point) }
        let result: Result
        do { result = try body(paths, nil) } catch {
            connection.close()
            throw error
        }
        do throws(CoordinationError) {
            _ = try connection.call("Release", ["claim": reply["claim"] ?? .null])
        } catch {
            throw CoordinationError.claimLost
        }
        return result
    }

    /// Outside of containers; in the mount of another user, to whose daemon locks are claims; and with
    /// documents that other containers grant: a claim in the app's mount would keep nobody out, file locks
    /// hold in both mounts.
    private func underLocks<Result>(
        _ places: [(path: String, writes: Bool)], until deadline: UInt64, lending: Bool,
        _ body: ([String], LockLender?) throws -> Result
    ) throws -> Result {
        // Always in one order, so that two programs do not wait for each other; what is to be
        // written first, which what is to be read shares.
        let wanted = places.map { (path: $0, writes: $1, item: PlainLock.item(at: $0)) }
        let ordered = wanted.sorted { one, other in
            let (first, second) = (PathKey(one.path), PathKey(other.path))
            return first == second ? one.writes && !other.writes : first < second
        }
        // Names of one item, and those of new ones in one folder, have one lock.
        let written = Set(wanted.filter(\.writes).map(\.item))
        let locks = try ordered.map { one in
            let lock = try PlainLock(
                one.path, for: purpose, writes: one.writes || written.contains(one.item),
                until: deadline
            ) { state.withLock { $0.isCancelled } }
            return (path: one.path, lock: lock)
        }
        defer { withExtendedLifetime(locks) {} }
        // Without it the command may be in its own way, and is told so when it waits too long.
        let lends = lending && !written.isEmpty
        let lender = lends ? try? LockLender(locks, for: purpose) : nil
        defer { lender?.end() }
        let paths = places.map(\.path)
        guard let presentation else { return try body(paths, lender) }
        // What others change while this reads is news: it may have been read before.
        let changed = places.filter(\.writes).map(\.path)
        return try presentation.leavingOut(changed) { try body(paths, lender) }
    }

    /// Whether a claim on an item would be the daemon's of its mount, and no file lock.
    package static func isServed(_ path: String) -> Bool {
        guard let place = try? ItemPlace(path, following: true) else { return false }
        return place.servingMount != nil && owner(of: place) == nil
    }

    /// The container that has a document which was granted to the app whose mount this is; `nil` for all
    /// else.
    private static func owner(of place: ItemPlace) -> String? {
        func container(_ path: String) -> [UInt8]? {
            try? PathAttributes.value("user.shapeedit.container", of: path)
        }
        guard let point = place.mountPoint, place.relative.hasPrefix("in "),
            let owner = container(place.absolute), owner != container(point)
        else { return nil }
        return String(decoding: owner, as: UTF8.self)
    }

    /// Waits for a claim; where the mount has all the clients or claims that it takes, for a while for room.
    private func claim(
        _ targets: [(path: String, access: FileAccess)], until deadline: UInt64, at point: String
    ) throws(CoordinationError) -> (ControlConnection, JSONObject) {
        let patience = MonotonicClock.after(milliseconds: Self.crowding)
        while true {
            let now = MonotonicClock.now
            let milliseconds = Int((max(deadline, now) - now) / 1_000_000)
            let connection = try ControlConnection(mountPoint: point)
            do throws(CoordinationError) {
                return (connection, try claim(targets, milliseconds, connection))
            } catch {
                guard case .tooMany = error, now < min(deadline, patience) else { throw error }
            }
            // Not all of those that wait for room at one moment.
            usleep(.random(in: 20_000...100_000))
        }
    }

    private func claim(
        _ targets: [(path: String, access: FileAccess)], _ milliseconds: Int,
        _ connection: ControlConnection
    ) throws(CoordinationError) -> JSONObject {
        let mayWait = state.withLock { state in
            if !state.isCancelled { state.waiting[ObjectIdentifier(connection)] = connection }
            return !state.isCancelled
        }
        guard mayWait else { throw .cancelled }
        let reply: Swift.Result<JSONObject, CoordinationError>
        do throws(CoordinationError) {
            reply = .success(
                try connection.claim(
                    targets, purpose: purpose, presenter: presentation?.id,
                    milliseconds: milliseconds))
        } catch { reply = .failure(error) }
        // Who cancels while this is among those that wait takes the claim away, if it was just granted
        // too.
        let isCancelled = state.withLock { state in
            state.waiting[ObjectIdentifier(connection)] = nil
            return state.isCancelled
        }
        if isCancelled { throw .cancelled }
        return try reply.get()
    }

    /// Ends the waiting of all calls, and of later ones: they throw `cancelled`. Work that has begun
    /// goes on.
    public func cancel() {
        let waiting = state.withLock { state in
            state.isCancelled = true
            return Array(state.waiting.values)
        }
        for connection in waiting { connection.close() }
    }

    /// Who keeps this process from locking a document for itself at this moment, and so from changing
    /// it: in a container claims and file locks of others, elsewhere locks by flock(2). Empty if nobody
    /// does, and where it cannot be told.
    public static func holders(of path: String) -> [Claimant] {
        guard let place = try? ItemPlace(path, following: true) else { return [] }
        guard let point = place.mountPoint else { return PlainLock.holders(of: place.absolute) }
        var parameters = JSONObject()
        parameters.setPath("path", place.relative)
        let reply = try? ControlConnection(mountPoint: point).call("Holders", parameters)
        return (reply?["holders"]?.array ?? []).compactMap { $0.object }.compactMap(Claimant.init)
    }

    /// Who holds or waits for what in the container that the path is in, with the claims' numbers,
    /// and where the container shows.
    public static func claims(
        around path: String
    ) throws(CoordinationError) -> (mountPoint: String, list: [(claim: Int, claimant: Claimant)]) {
        guard let point = try ItemPlace(path).mountPoint else {
            throw .badPath(path, "it is not in a mounted container")
        }
        let connection = try ControlConnection(mountPoint: point)
        try connection.send("Claims", [:], more: true)
        var list: [(claim: Int, claimant: Claimant)] = []
        var isWhole = false
        while !isWhole {
            let part = try connection.next(milliseconds: ControlConnection.patience)
            for case .object(let object) in part["claims"]?.array ?? [] {
                if let claimant = object["claimant"]?.object.flatMap(Claimant.init) {
                    list.append((object["claim"]?.integer ?? 0, claimant))
                }
            }
            isWhole = part["complete"]?.boolean ?? true
        }
        return (point, list)
    }
}
