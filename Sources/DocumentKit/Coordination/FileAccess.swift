/// What somebody wants to do with an item. The Coordination page has a table of what each excludes
/// and what presenters are asked for.
public enum FileAccess: String, Sendable, CaseIterable {
    /// Reading what is there; programs that show the item save first.
    case read
    /// Reading what was saved.
    case readWithoutChanges
    /// Reading name, times and attributes.
    case readMetadata
    /// Opening a whole version to send it.
    case readForUploading
    /// Changing the item.
    case write
    /// Changing it on the basis of what is there; programs that show it save first.
    case writeMerging
    /// Deleting it; of a folder, all that is in it.
    case writeDeleting
    /// Moving or renaming it.
    case writeMoving
    /// Putting another item in its place.
    case writeReplacing
    /// Changing attributes.
    case writeMetadata

    /// Whether it excludes all others.
    public var writes: Bool { rawValue.hasPrefix("write") }

    /// Whether what a symlink leads to is meant, as by who opens it, and not the link, as by who
    /// renames or removes it.
    var followsLinks: Bool { ![.writeDeleting, .writeMoving, .writeReplacing].contains(self) }
}

/// An item and what somebody wants to do with it. A symlink stands for what it leads to, but for
/// deleting, moving and replacing, which are done to the link itself.
public struct FileIntent: Hashable, Sendable {
    /// Absolute, or relative to the working directory. The item need not exist, its folder has to.
    public var path: String
    /// What for.
    public var access: FileAccess

    /// The item at a path, for this.
    public init(_ path: String, _ access: FileAccess) {
        self.path = path
        self.access = access
    }
}

/// Who holds or wants a claim, or is in the way of one.
public struct Claimant: Hashable, Sendable {
    /// By what it came to be in the way.
    public enum Kind: String, Sendable {
        /// Asked for by name.
        case claim
        /// A file operation of a program that knows nothing of claims.
        case operation
        /// A program has the document open for writing.
        case writing
        /// A program holds or wants a file lock (flock, fcntl).
        case lock
        /// A presenter that has not answered.
        case presenter
    }
    /// How far a claim is.
    public enum State: String, Sendable {
        /// Waits for others.
        case waiting
        /// Waits for presenters.
        case preparing
        case granted
    }
    /// 0 where it cannot be seen.
    public var process: Int
    /// The name of its program; empty where it is not known.
    public var command: String
    /// By what it came to be in the way.
    public var kind: Kind
    /// How far its claim is.
    public var state: State
    /// Since when, in seconds since 1970.
    public var since: Double
    /// Paths are relative to the root of the container.
    public var targets: [FileIntent]
}

/// Why items could not be coordinated.
public enum CoordinationError: Error, Hashable, Sendable {
    /// The time was up; these are in the way.
    case timedOut([Claimant])
    /// These wait for claims of the same purpose.
    case deadlock([Claimant])
    case cancelled
    /// The path has no folder, or is one that cannot be coordinated; says why.
    case badPath(String, String)
    /// The items are not all in one container.
    case severalContainers(String, String)
    /// The mount does not answer, or has no control socket; says why.
    case unavailable(String)
    /// The mount is another user's, and what is asked for is told to programs of that user alone; says so.
    case notPermitted(String)
    /// The mount has as many claims, presenters, queries or clients as it takes; says of what. It may go
    /// when others have ended.
    case tooMany(String)
    /// The claim ended before the work did: the mount went away. Others may have come in between.
    case claimLost
}
