internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// The container's folder: what is not ours is named and left alone.
extension ContainerCheck {
    mutating func checkFolder() {
        let foreign = ForeignFiles.paths(in: content.folder)
        for path in foreign {
            find(
                "\(content.folder.path)/\(path) does not belong there; it was left alone",
                repaired: false)
        }
        let others = Set(foreign)
        let pictures = content.folder.pictures
        for shelf in listing(pictures) where !others.contains("pictures/" + shelf) {
            for name in listing(pictures + "/" + shelf) {
                if let node = PictureFolder.node(shelf: shelf, name: name),
                    !others.contains("pictures/\(shelf)/\(name)")
                {
                    checkPicture(node)
                }
            }
        }
    }

    /// Pictures are not brought to the disk as they are made: only where the container was closed is one that
    /// is not as it was written damage. It is drawn again.
    private mutating func checkPicture(_ node: NodeNumber) {
        let folder = PictureFolder(path: content.folder.pictures)
        guard wasClosed, folder.isDamaged(node) else { return }
        folder.remove(node)
        find(
            "\(path(node.item)), version \(node.ordinal): its picture was damaged; it is drawn again",
            repaired: true, isOfCatalog: false)
    }

    /// A crash leaves pictures that are not whole or whose versions are gone: no damage either.
    func removeUnusedPictures() throws(Failure) {
        let folder = PictureFolder(path: content.folder.pictures)
        for shelf in listing(folder.path) {
            for name in listing(folder.path + "/" + shelf) {
                if let node = PictureFolder.node(shelf: shelf, name: name) {
                    let version = try database.version(node.item, node.ordinal)
                    let isCurrent = rows[node.item]?.ordinal == node.ordinal
                    if version == nil && !isCurrent || folder.head(node) == nil {
                        folder.remove(node)
                    }
                } else if PictureFolder.isUnfinished(shelf: shelf, name: name) {
                    unlink("\(folder.path)/\(shelf)/\(name)".cPath)
                }
            }
        }
    }

    /// A crash between forgetting a version and removing its bytes leaves blobs that nothing refers
    /// to: no damage. In a container that was found damaged they stay.
    func removeUnusedBlobs() throws(Failure) {
        for shelf in listing(content.folder.blobs) {
            for name in listing(content.folder.blobs + "/" + shelf) {
                if let hash = ContainerFolder.hash(of: name), try !database.isReferenced(hash) {
                    content.removeBlob(hash)
                }
            }
        }
    }

    private func listing(_ path: String) -> [String] {
        ((try? Directories.names(in: path)) ?? []).sorted()
    }
}
