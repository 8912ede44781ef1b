/// Tells a presenter of an item, from its making until ``end()``.
///
/// In a mounted container by messages of its daemon, elsewhere, and in the mount of another user, by inotify(7).
/// Any thread.
public final class FilePresentation: Sendable {
    private enum Source {
        case mount(MountPresentation)
        case folder(FolderPresentation)
    }
    private let source: Source

    /// Begins to tell. The presenter is kept until the presentation ends.
    ///
    /// - Throws: `badPath` for what has no folder, `unavailable` if the mount has no control socket or
    ///   nothing more can be watched.
    public init(of path: String, _ presenter: any FilePresenter) throws(CoordinationError) {
        let place = try ItemPlace(path, following: true)
        source =
            if let point = place.servingMount {
                .mount(try MountPresentation(of: place, in: point, presenter))
            } else { .folder(try FolderPresentation(of: place, presenter)) }
    }

    deinit { end() }

    /// Where the item is now.
    public var path: String {
        switch source {
        case .mount(let presentation): presentation.path
        case .folder(let presentation): presentation.path
        }
    }

    /// Ends the telling. A call that is under way may still come to its end.
    public func end() {
        switch source {
        case .mount(let presentation): presentation.end()
        case .folder(let presentation): presentation.end()
        }
    }

    /// Its number at the control socket; `nil` where inotify(7) tells, and when it has ended.
    var id: Int? { if case .mount(let presentation) = source { presentation.id } else { nil } }

    /// Whether it tells still.
    var isTelling: Bool {
        switch source {
        case .mount(let presentation): presentation.id != nil
        case .folder(let presentation): presentation.isTelling
        }
    }

    /// Whether what others do while the presenter's own coordinator writes is told apart from that.
    var tellsApart: Bool { if case .mount = source { true } else { false } }

    /// Runs `body`, which changes the items at the paths on behalf of the presenter.
    func leavingOut<Result>(_ paths: [String], _ body: () throws -> Result) rethrows -> Result {
        guard case .folder(let presentation) = source else { return try body() }
        return try presentation.leavingOut(paths, body)
    }
}
