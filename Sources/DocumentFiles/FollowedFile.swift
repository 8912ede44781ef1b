internal import DocumentKit
internal import Glibc
internal import PathText
internal import SystemCalls

/// A document that somebody has open, wherever others move it.
///
/// In a mount of ours the document's id leads to it; outside of mounts a descriptor of its file does, by
/// which the kernel knows where that is. In the mount of another user that would keep the owner from
/// unmounting: there it is searched for nearby. Another file in its place is how programs save: that one is the
/// document then. For one thread at a time; blocks on the disk.
package struct FollowedFile: ~Copyable {
    /// What became of it since it was looked for last.
    package enum Whereabouts: Hashable, Sendable {
        case same
        /// ``FollowedFile/file`` has the path.
        case moved
        /// It is nowhere, or in the trash.
        case deleted
        /// The mount it was in is gone, or another container's is there.
        case unmounted
    }

    /// How long its name may be missing while a program saves it, in milliseconds.
    private static let grace: UInt64 = 100

    /// Where it was found last.
    package private(set) var file: DocumentFile
    /// Which file it is.
    private var held: FileStamp?
    /// Outside of mounts: holds on to that file.
    private var item: OwnedDescriptor?
    /// In the mount of another user: by what it is searched for.
    private var nearby: NearbyFile?
    /// In a mount: by what that is found again.
    private var mount: MountedDocument?

    /// Follows what is at the path now.
    package init(_ file: DocumentFile) {
        self.file = file
        hold()
    }

    /// Looks where it is. Waits a moment where its name is missing.
    package mutating func find() -> Whereabouts {
        if let mount, mount.isAnothers { return .unmounted }
        if isInPlace { return .same }
        let end = MonotonicClock.after(milliseconds: Self.grace)
        while Self.isMissing(file.path), MonotonicClock.now < end { usleep(10_000) }
        if let path = mount?.path { return take(path) }
        if !Self.isMissing(file.path) {
            // Others may have put a link to the document in its place: a save would replace that.
            let linked = Self.isLink(file.path) ? try? FoundFile.path(of: file.path) : nil
            return take(linked ?? file.path)
        }
        let found = item?.path ?? nearby?.search()
        if let found, let held, FileStamp(path: found)?.isSameFile(as: held) == true {
            return take(found)
        }
        if let mount, access((mount.point + "/.shapeedit").cPath, F_OK) != 0 { return .unmounted }
        if let nearby, !nearby.isMounted { return .unmounted }
        return .deleted
    }

    private var isInPlace: Bool {
        guard let held, let now = FileStamp(path: file.path) else { return false }
        return now.isSameFile(as: held) && !Self.isLink(file.path)
    }

    private static func isLink(_ path: String) -> Bool {
        (try? SymbolicLink.target(of: path)) != nil
    }

    /// Where it cannot be told, reading it says why.
    private static func isMissing(_ path: String) -> Bool {
        access(path.cPath, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// A file is about to take the document's name: that one is the document then, also if others move it
    /// before anybody looks for it.
    ///
    /// - Parameter path: which it has until then.
    package mutating func follow(successor path: String) {
        // By its path: the kernel knows a file that was made without a name by the name it got later.
        held = FileStamp(path: path)
        find(byFileAt: path)
    }

    /// Without a document's id to go by: from now on it is found by the file at a path.
    private mutating func find(byFileAt path: String) {
        nearby = NearbyFile(path, called: file.path)
        item = nearby == nil ? try? OwnedDescriptor.open(path, OwnedDescriptor.pathOnly) : nil
    }

    private mutating func take(_ path: String) -> Whereabouts {
        if TrashFolder.contains(path) { return .deleted }
        let isMoved = path != file.path
        if isMoved { file = file.moved(to: path) }
        hold()
        return isMoved ? .moved : .same
    }

    /// From now on the document is what has its path now. Where that does not answer, as a mount whose daemon
    /// was killed, what was known before stays known: the mount may be taken away next.
    private mutating func hold() {
        guard let stamp = FileStamp(path: file.path) else { return }
        let mount = VersionFiles.mountRoot(of: file.path).flatMap {
            MountedDocument(at: file.path, in: $0)
        }
        // The daemon may have been killed between these questions.
        if mount == nil, self.mount != nil, FileStamp(path: file.path) == nil { return }
        held = stamp
        self.mount = mount
        item = nil
        nearby = nil
        // In a mount a descriptor would keep that busy.
        if mount == nil { find(byFileAt: file.path) }
    }
}
