/// A file in a mount whose daemon does not tell where it goes, as that of another user does not: it is searched
/// for by its inode.
package struct NearbyFile {
    private let point: String
    private let bookmark: FolderBookmark

    /// - Parameters:
    ///   - path: where it is now, absolute and without symlinks; `nil` comes of one outside of mounts.
    ///   - name: the path that it has, or is about to get: the search begins there.
    package init?(_ path: String, called name: String) {
        guard let point = MountTable.mountPoint(of: path), let entry = FolderTree.Entry(path) else {
            return nil
        }
        self.point = point
        bookmark = FolderBookmark(entry, at: name)
    }

    /// Where it is, if that is nearby in its mount.
    package func search() -> String? { bookmark.search() }

    /// Whether its mount is there.
    package var isMounted: Bool { MountTable.isMounted(point) }
}
