/// Who is let in when a presenter prepares for a claim.
public enum FileGuest: String, Sendable {
    case reader
    case writer
}

/// What happened to an item below a folder that is presented. Paths are absolute.
public enum SubitemChange: Hashable, Sendable {
    /// In a container a folder that came from elsewhere is told alone, and not what is in it.
    case appeared(String)
    case changed(String)
    /// In a container also to a place outside of the folder that is presented.
    case moved(String, to: String)
    case deleted(String)
}

/// Shows an item and wants to know what others do with it.
///
/// All of it is called on a thread of the presentation's, one call after the other. What returns
/// late keeps others waiting, five seconds at most; to write, use a ``FileCoordinator`` that is for
/// the presentation.
///
/// Outside of containers, and in the mount of another user, nobody asks before reading and writing: only
/// changes, moves and deletions are told there, once the item is as it is told.
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
    /// Earlier versions of it were let go.
    func versionLost()
    /// A version of it was marked as one that somebody replaced unseen, or unmarked.
    func versionConflict()
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
    public func versionLost() {}
    /// Does nothing.
    public func versionConflict() {}
    /// Does nothing.
    public func presentationEnded() {}
}
