package import Model
internal import PathText

/// A foreign tree of folders and files that documents can be imported from: a folder, a WebDAV
/// collection, an S3 bucket. It is only ever read.
///
/// Calls block the caller's thread and look at the call's ``Cancellation`` at least every 100 ms. Any
/// number of threads.
package protocol SourceTree: Sendable {
    /// Where the tree is, for messages; never holds credentials.
    var address: String { get }

    /// Shows everything in the tree once, a folder before what is in it. What comes or goes meanwhile
    /// may or may not be among it; if a part cannot be listed, the walk fails; what may pass is tried
    /// again first. What we may not see does not keep us from the others. `visit` may throw to end it, but
    /// not `denied`.
    ///
    /// - Returns: what could not be shown.
    @discardableResult func walk(
        _ call: StoreCall, _ visit: (SourceEntry) throws(StoreError) -> Void
    ) throws(StoreError) -> PassedOver

    /// Reads a part of a file's content, in ascending order and without gaps, into `sink`. What does not
    /// fit the tag may come once more, from the part's beginning on.
    ///
    /// Throws `absent` if there is no such file any more, and `corrupt` if it has not the object's tag
    /// or size any more: then nothing or only some of the bytes that it had have been written. `corrupt`
    /// also if other bytes came than the tag tells: then what was written is not to be used.
    func read(
        _ object: SourceObject, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError)
}

/// Things of a tree that a directory cannot show: their names cannot be names or are listed twice, no file is so
/// large, or more is told of them than can be kept. And what cannot be looked at.
package struct PassedOver: Hashable, Sendable {
    package private(set) var count = 0
    /// The path or key of the first.
    package private(set) var first = ""
    /// What is there, by paths that a folder here can have.
    package private(set) var hidden = HiddenPaths()
    /// A folder went while the tree was listed: what was in it may be at a place that had been listed.
    package var hasGone = false
    /// How much cannot be looked at, with all that may be below it; not in ``count``.
    package private(set) var closedCount = 0
    /// Why, of the first of that.
    package private(set) var problem: StoreError?

    mutating func noteClosed(_ path: [UInt8], _ reason: StoreError) {
        closedCount += 1
        problem = problem ?? reason
        hidden.insert(path, withAllBelow: true)
    }

    /// Adds what another part of the tree could not show.
    mutating func add(_ part: PassedOver) {
        if count == 0 { first = part.first }
        count += part.count
        hasGone = hasGone || part.hasGone
        closedCount += part.closedCount
        problem = problem ?? part.problem
        hidden.add(part.hidden)
    }

    mutating func note(_ name: String) {
        if count == 0 { first = name }
        count += 1
    }

    /// Notes what is there and cannot be shown as it is now: a refresh must not take it for removed.
    ///
    /// - Parameter isFolder: or may be one, so that what is below it is not listed.
    mutating func noteUnshown(_ name: String, at path: [UInt8], isFolder: Bool) {
        note(name)
        if SourceEntry.isPath(path) { hidden.insert(path, withAllBelow: isFolder) }
    }
}

/// What a listing tells of one thing in a tree.
package struct SourceEntry: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case folder
        /// Its size in bytes.
        case file(Int64)
        case symlink(target: [UInt8])
    }

    package var kind: Kind
    /// From the tree's root on, without a slash at either end. Each part is a name that a directory
    /// can have.
    package var path: [UInt8]
    /// Names the thing for as long as it lives, wherever it is moved; empty if the source has nothing
    /// of the kind.
    package var identity: [UInt8]
    /// Another whenever the content is another; empty for folders.
    package var tag: [UInt8]
    /// `nil` if the source does not tell.
    package var modified: Timestamp?
    /// Permission bits; `nil` if the source has none.
    package var mode: UInt32?

    package init(
        _ kind: Kind, path: [UInt8], identity: [UInt8] = [], tag: [UInt8] = [],
        modified: Timestamp? = nil, mode: UInt32? = nil
    ) {
        self.kind = kind
        self.path = path
        self.identity = identity
        self.tag = tag
        self.modified = modified
        self.mode = mode
    }

    /// The largest file that is shown, in bytes.
    package static let largest = VersionRow.largestSize

    /// Bytes of what is told of a thing beside its kind, at most.
    private static let longest = 48 << 10

    /// Whether this can be passed on: servers may give things identities and tags of any length, and of
    /// bytes that no text has.
    static func isBounded(_ path: [UInt8], identity: [UInt8] = [], tag: [UInt8]) -> Bool {
        path.count + identity.count + tag.count <= longest && !identity.contains(0)
            && !tag.contains(0)
    }

    /// Whether each part is a name, and it is not too long to be passed on.
    static func isPath(_ path: [UInt8]) -> Bool {
        isBounded(path, tag: [])
            && path.split(separator: 0x2f, omittingEmptySubsequences: false)
                .allSatisfy { isName($0) }
    }

    /// Whether a directory can have this name.
    static func isName(_ name: some Collection<UInt8>) -> Bool {
        !name.isEmpty && name.count <= 255 && !name.contains(0) && !name.contains(0x2f)
            && !name.elementsEqual([0x2e]) && !name.elementsEqual([0x2e, 0x2e])
    }
}

/// A file of a tree as it was when it was listed.
package struct SourceObject: Sendable {
    /// As in ``SourceEntry``.
    package var path: [UInt8]
    package var tag: [UInt8]
    /// What its content is called here, and its size.
    package var blob: Blob

    package init(path: [UInt8], tag: [UInt8], blob: Blob) {
        self.path = path
        self.tag = tag
        self.blob = blob
    }

    /// For messages.
    var name: String { String(path: path) }

    /// Whether what has come of its content may be read before all has. Smaller ones come whole, and
    /// nobody has seen a byte of them before the read returns.
    var isSeenInParts: Bool { blob.size > 4 << 20 }

    func changed(_ address: String) -> StoreError {
        StoreError(
            .corrupt, at: address,
            "\(name) has changed there since it was listed; `shapeedit import --refresh` follows it"
        )
    }

    /// To be told from another version it would have to come with what the listing has.
    func untold(_ address: String) -> StoreError {
        StoreError(
            .corrupt, at: address,
            "the server does not say which version of \(name) it sends: the answer has no ETag, or no"
                + " Last-Modified, as the listing has")
    }

    func gone(_ address: String) -> StoreError {
        StoreError(.absent, at: address, "\(name) is not there any more")
    }
}

extension StoreAddress {
    /// The tree at this address, to import from. Nothing is sent before the first call.
    package func openTree(_ settings: StoreSettings = StoreSettings()) -> any SourceTree {
        switch self {
        case .folder(let path): FolderTree(path: path)
        case .s3(let address): S3Tree(address, settings)
        case .webDAV(let address): WebDAVTree(address, settings)
        }
    }
}
