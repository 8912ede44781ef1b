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
        let folder = content.folder
        for name in listing(folder.path) where !ContainerFolder.names.contains(name) {
            findForeign(name)
        }
        for name in listing(folder.journal) where !Journal.names.contains(name) {
            findForeign("journal/" + name)
        }
        for name in listing(folder.staging) where ContainerFolder.node(of: name) == nil {
            findForeign("staging/" + name)
        }
        for name in listing(folder.packs) where ContainerFolder.number(of: name) == nil {
            findForeign("packs/" + name)
        }
        for name in listing(folder.spare)
        where ContainerFolder.number(of: name) == nil
            || kind(of: folder.spare + "/" + name) != S_IFREG
        {
            findForeign("spare/" + name)
        }
        for place in ["digests", "incoming"] {
            for name in listing(folder.path + "/" + place)
            where ContainerFolder.hash(of: name.replacing(ContainerFolder.mapSuffix, with: ""))
                == nil
            {
                findForeign(place + "/" + name)
            }
        }
        checkPictures()
        for shelf in listing(folder.blobs) {
            let path = folder.blobs + "/" + shelf
            guard ContainerFolder.isShelf(shelf), kind(of: path) == S_IFDIR
            else {
                findForeign("blobs/" + shelf)
                continue
            }
            for name in listing(path) {
                if ContainerFolder.hash(of: name) == nil || !name.hasPrefix(shelf)
                    || kind(of: path + "/" + name) != S_IFREG
                {
                    findForeign("blobs/\(shelf)/\(name)")
                }
            }
        }
    }

    private mutating func checkPictures() {
        let folder = content.folder.pictures
        for shelf in listing(folder) {
            let path = folder + "/" + shelf
            guard ContainerFolder.isShelf(shelf), kind(of: path) == S_IFDIR
            else {
                findForeign("pictures/" + shelf)
                continue
            }
            for name in listing(path) {
                let node = PictureFolder.node(shelf: shelf, name: name)
                if node == nil && !PictureFolder.isUnfinished(shelf: shelf, name: name)
                    || kind(of: path + "/" + name) != S_IFREG
                {
                    findForeign("pictures/\(shelf)/\(name)")
                } else if let node {
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

    private mutating func findForeign(_ path: String) {
        find(
            "\(content.folder.path)/\(path) does not belong there; it was left alone",
            repaired: false)
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

    func kind(of path: String) -> mode_t {
        var status = stat()
        return lstat(path.cPath, &status) == 0 ? status.st_mode & S_IFMT : 0
    }
}
