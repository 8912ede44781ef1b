internal import Documents
internal import SystemCalls
internal import Varlink

/// Tells a presenter of an item in a mounted container.
final class MountPresentation: Sendable {
    private let connection: ControlConnection
    private let shown: Lock<String>
    private let number: Lock<Int?>

    init(
        of place: ItemPlace, in mountPoint: String, _ presenter: any FilePresenter
    ) throws(CoordinationError) {
        shown = Lock(place.absolute)
        guard let status = ControlConnection.status(mountPoint) else {
            throw .unavailable("\(mountPoint) does not answer")
        }
        // First: a presenter that could not answer would hold up every claim.
        let answers = try PresenterAnswers.of(status, at: mountPoint)
        connection = try ControlConnection(status, of: mountPoint)
        var parameters = JSONObject()
        parameters.setPath("path", place.relative)
        try connection.send("Present", parameters, more: true)
        let first = try connection.next(milliseconds: ControlConnection.patience)
        guard let id = first["message"]?.object?["presenter"]?.integer else {
            throw .unavailable("the mount's daemon does not register presenters")
        }
        number = Lock(id)
        let told = Told(connection, answers, id, mountPoint)
        Threads.start("presentation") { [shown, number] in
            let isWanted = { number.withLock { $0 != nil } }
            told.run(presenter, of: place.absolute, while: isWanted) { path in
                shown.withLock { $0 = path }
            }
            number.withLock { $0 = nil }
            presenter.presentationEnded()
        }
    }

    /// Its number at the control socket; `nil` when it has ended, or its connection is gone: the daemon knows
    /// none of that number then, and the mount that comes next none, or another.
    var id: Int? { number.withLock { $0 } }

    /// Where the item is now.
    var path: String { shown.withLock { $0 } }

    func end() {
        number.withLock { $0 = nil }
        connection.close()
    }
}

/// The thread of a presentation in a mount.
private final class Told: Sendable {
    private let connection: ControlConnection
    private let answers: PresenterAnswers
    private let id: Int
    private let mountPoint: String

    init(
        _ connection: ControlConnection, _ answers: PresenterAnswers, _ id: Int,
        _ mountPoint: String
    ) {
        self.connection = connection
        self.answers = answers
        self.id = id
        self.mountPoint = mountPoint
    }

    /// Tells until the connection ends. `moved` is given each new path of the item.
    ///
    /// - Parameter isWanted: what had come before the end is there still, and is not told any more.
    func run(
        _ presenter: any FilePresenter, of start: String, while isWanted: () -> Bool,
        _ moved: (String) -> Void
    ) {
        var current = start
        while let message = (try? connection.next())?["message"]?.object, isWanted() {
            let path = message.path("path").map(absolute) ?? mountPoint
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
                let target = message.path("newPath").map(absolute) ?? mountPoint
                presenter.subitemChanged(.moved(path, to: target))
            case "versionGained": presenter.versionGained()
            case "versionLost": presenter.versionLost()
            case "versionConflict": presenter.versionConflict()
            default: break
            }
        }
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
        answers.prepared(id, for: message["claim"] ?? .null)
    }

    private func absolute(_ relative: String) -> String {
        ItemPlace.absolute(relative, in: mountPoint)
    }
}
