internal import Glibc
package import Model
internal import PathText
package import SystemCalls

/// Contents that are in a store.
extension LocalContent {
    /// Whether the blob is in the folder, whole.
    package func hasBlob(_ hash: ContentHash) -> Bool { access(folder.blob(hash).cPath, F_OK) == 0 }

    /// Takes a whole, verified content from `incoming` among the blobs.
    package func adopt(_ hash: ContentHash) throws(Errno) {
        // A document was saved with the same content meanwhile: its bytes are on the disk, these are not.
        if hasBlob(hash) {
            unlink(folder.incoming(hash).cPath)
            return
        }
        try adopt(hash, as: hash)
    }

    /// The same for one that was on its way under another name than its hash.
    package func adopt(_ name: ContentHash, as hash: ContentHash) throws(Errno) {
        let source = folder.incoming(name)
        let target = folder.blob(hash)
        if rename(source.cPath, target.cPath) == 0 { return }
        if errno == EPERM, hasBlob(hash) {
            // The same bytes, which nobody is to change while somebody has them open, or that a crash left
            // so.
            unlink(source.cPath)
            return
        }
        guard errno == ENOENT else { throw Errno.last }
        if access(source.cPath, F_OK) != 0 {
            // It is there already.
            try check { access(target.cPath, F_OK) }
            return
        }
        try Directories.make(folder.blobs + "/" + hash.description.prefix(2))
        try check { rename(source.cPath, target.cPath) }
    }

    /// Lets the blob go; who has it open or mapped keeps it, so its inode is not used again.
    package func evictBlob(_ hash: ContentHash) { remove(folder.blob(hash)) }

    /// Removes what came of a content that nobody refers to any more, and what is known of its
    /// blocks.
    package func forgetIncoming(_ hash: ContentHash) {
        dropIncoming(hash)
        unlink(folder.digests(hash).cPath)
        unlink((folder.digests(hash) + ContainerFolder.mapSuffix).cPath)
    }

    /// Removes what came of a content that can come again.
    package func dropIncoming(_ hash: ContentHash) {
        let path = folder.incoming(hash)
        unlink(path.cPath)
        unlink((path + ContainerFolder.mapSuffix).cPath)
    }
}
