internal import Documents
internal import SystemCalls

/// Who is let in when a presenter prepares for a claim.
public enum FileGuest: String, Sendable {
    case reader
    case writer
}

/// What happened to an item below a folder that is presented. Paths are absolute.
public enum SubitemChange: Hashable, Sendable {
    case appeared(String)
    case changed(String)
    case moved(String, to: String)
    case deleted(String)
}

/// Shows an item and wants to know what others do with it.
///
/// All of it is called on a thread of the presentation's, one call after the other. What returns
/// late keeps others waiting, five seconds at most; to write, use a ``FileCoordinator`` that is for
/// the presentation.
public protocol FilePresenter: AnyObject, Sendable {
    /// Somebody is about to read or write the item: leave it alone until ``resume()``.
    func relinquish(to guest: FileGuest)
    /// What is not saved is to be saved now.
    func saveChanges()
    /// The item at the path, which may be below a folder that is presented, is about to go.
    func accommodateDeletion(of path: String)
    /// Whoever was let in is done.
    func resume()
    /// Its content or attributes are others.
    func itemChanged()
    /// The item is at another place, which is what the presentation is of from now on.
    func itemMoved(to path: String)
    /// Its name is gone.
    func itemDeleted()
    /// Something below the folder is another.
    func subitemChanged(_ change: SubitemChange)
    /// A version of the item was published.
    func versionGained()
    /// The connection is gone, with the mount or because messages were not taken; nothing more comes.
    func presentationEnded()
}

extension FilePresenter {
    /// Does nothing.
    public func relinquish(to guest: FileGuest) {}
    /// Does nothing.
    public func saveChanges() {}
    /// Does nothing.
    public func accommodateDeletion(of path: String) {}
    /// Does nothing.
    public func resume() {}
    /// Does nothing.
    public func itemChanged() {}
    /// Does nothing.
    public func itemMoved(to path: String) {}
    /// Does nothing.
    public func itemDeleted() {}
    /// Does nothing.
    public func subitemChanged(_ change: SubitemChange) {}
    /// Does nothing.
    public func versionGained() {}
    /// Does nothing.
    public func presentationEnded() {}
}

/// Tells a presenter of an item in a mounted container, from its making until ``end()``.
public final class FilePresentation: Sendable {
    /// Its number at the control socket.
    let id: Int
    private let mountPoint: String
    private let connection: ControlConnection
    private let answers: ControlConnection
    private let shown: Lock<String>

    /// Begins to tell. The presenter is kept until the presentation ends.
    ///
    /// - Throws: `badPath` for what is in no mounted container, `unavailable`.
    public init(of path: String, _ presenter: any FilePresenter) throws(CoordinationError) {
        let place = try ItemPlace(path)
        guard let point = place.mountPoint else {
            throw .badPath(path, "it is not in a mounted container")
        }
        mountPoint = point
        shown = Lock(place.absolute)
        connection = try ControlConnection(mountPoint: point)
        answers = try ControlConnection(mountPoint: point)
        try connection.send("Present", ["path": .string(place.relative)], more: true)
        let first = try connection.next(milliseconds: ControlConnection.patience)
        guard let id = first["message"]?.object?["presenter"]?.integer else {
            throw .unavailable("the mount's daemon does not register presenters")
        }
        self.id = id
        let told = Told(connection, answers, id, point)
        Threads.start("presentation") { [shown] in
            told.run(presenter, of: place.absolute) { path in shown.withLock { $0 = path } }
        }
    }

    deinit { end() }

    /// Where the item is now.
    public var path: String { shown.withLock { $0 } }

    /// Ends the telling. A call that is under way may still come to its end.
    public func end() { connection.close() }
}

/// The thread of a presentation.
private final class Told: Sendable {
    private let connection: ControlConnection
    private let answers: ControlConnection
    private let id: Int
    private let mountPoint: String

    init(
        _ connection: ControlConnection, _ answers: ControlConnection, _ id: Int,
        _ mountPoint: String
    ) {
        self.connection = connection
        self.answers = answers
        self.id = id
        self.mountPoint = mountPoint
    }

    /// Tells until the connection ends. `moved` is given each new path of the item.
    func run(_ presenter: any FilePresenter, of start: String, _ moved: (String) -> Void) {
        var current = start
        while let message = (try? connection.next())?["message"]?.object {
            let path = message["path"]?.string.map(absolute) ?? mountPoint
            switch message["kind"]?.string {
            case "prepare": prepare(presenter, current, message)
            case "prepareDeletion":
                presenter.accommodateDeletion(of: path)
                answer(message)
            case "resume": presenter.resume()
            case "changed": presenter.itemChanged()
            case "moved":
                current = path
                moved(path)
                presenter.itemMoved(to: path)
            case "deleted": presenter.itemDeleted()
            case "subitemAppeared": presenter.subitemChanged(.appeared(path))
            case "subitemChanged": presenter.subitemChanged(.changed(path))
            case "subitemDeleted": presenter.subitemChanged(.deleted(path))
            case "subitemMoved":
                let target = message["newPath"]?.string.map(absolute) ?? mountPoint
                presenter.subitemChanged(.moved(path, to: target))
            case "versionGained": presenter.versionGained()
            default: break
            }
        }
        presenter.presentationEnded()
    }

    private func prepare(
        _ presenter: any FilePresenter, _ path: String, _ message: JSONObject
    ) {
        let guest = message["lets"]?.string.flatMap(FileGuest.init) ?? .writer
        presenter.relinquish(to: guest)
        if message["saveChanges"]?.boolean == true { presenter.saveChanges() }
        if message["accommodateDeletion"]?.boolean == true {
            presenter.accommodateDeletion(of: path)
        }
        answer(message)
    }

    private func answer(_ message: JSONObject) {
        _ = try? answers.call(
            "Prepared", ["presenter": .integer(id), "claim": message["claim"] ?? .null])
    }

    private func absolute(_ relative: String) -> String {
        relative.isEmpty ? mountPoint : "\(mountPoint)/\(relative)"
    }
}
