internal import Glibc
internal import PathText
internal import SystemCalls

// The entries of files that have another path, which stands in each of them.
extension DesktopCache {
    /// Gives the entries of a file to its new path. Entries of the new path go, also where the old
    /// path had none or they cannot be written: they were of another file. The first problem is thrown.
    public func rename(path: String, to newPath: String) throws(Failure) {
        guard path != newPath else { return }
        let address = FileURI.address(ofPath: newPath.pathBytes)
        let (old, new) = (try name(ofPath: path), try name(ofPath: newPath))
        var problem: Failure?
        for size in Size.allCases {
            do throws(Failure) {
                try rename(size, old, to: new, address)
            } catch {
                unlink(self.path(size, new).cPath)
                problem = problem ?? error
            }
            unlink(self.path(size, old).cPath)
        }
        if let problem { throw problem }
    }

    private func rename(
        _ size: Size, _ old: String, to new: String, _ address: String
    ) throws(Failure) {
        guard let bytes = read(size, old), let file = PNGFile(bytes) else {
            unlink(path(size, new).cPath)
            return
        }
        var texts = PNGFile.texts(of: bytes)
        texts[Self.addressKey] = address
        let entry = file.bytes(
            texts: texts.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) })
        try system { () throws(Errno) in try put(entry, size, new) }
    }

    /// Which entries of a file were given to its new path.
    package enum Moved {
        case all
        /// Those of both paths may be wrong.
        case part
        /// There is none of the normal size that can be; nothing was done.
        case nothing
    }

    /// The same for entries that were written here for this state of the file, without writing their pictures
    /// again: each file is renamed, and a new address written over the former.
    ///
    /// Who reads the file meanwhile by the former path, at which there is nothing any more, may see a part of the
    /// new address.
    package func move(path: String, to newPath: String, of subject: Subject) -> Moved {
        let address = FileURI.address(ofPath: newPath.pathBytes)
        guard path != newPath, let old = try? name(ofPath: path),
            let new = try? name(ofPath: newPath)
        else { return .nothing }
        var former = subject
        former.path = path
        var moved = Moved.all
        for size in Size.allCases {
            do throws(Errno) {
                try move(size, old, to: new, address, of: former)
            } catch {
                // There may be none, and those of the new path may be right.
                if size == .normal { return .nothing }
                // What is there by the new path was of another file.
                if error.code == ENOENT {
                    unlink(self.path(size, new).cPath)
                } else {
                    moved = .part
                }
            }
        }
        return moved
    }

    private func move(
        _ size: Size, _ old: String, to new: String, _ address: String, of former: Subject
    ) throws(Errno) {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        let file = try OwnedDescriptor.open(path(size, old), flags)
        let status = try file.status()
        var head = [UInt8](repeating: 0, count: Self.headBytes)
        head.removeLast(head.count - (try file.read(into: &head, at: 0)))
        // One of several names is another file's as well.
        guard status.st_nlink == 1, isCurrent(PNGFile.texts(ofBeginning: head), of: former),
            let (bytes, place) = PNGFile.replacement(
                ofFirstText: Self.addressKey, with: address, in: head)
        else { throw Errno(EINVAL) }
        try file.write(bytes, at: Int64(place))
        // Another program may have put its own there since.
        var now = stat()
        try check { lstat(path(size, old).cPath, &now) }
        guard now.st_ino == status.st_ino, now.st_dev == status.st_dev else { throw Errno(EINVAL) }
        try check { Glibc.rename(path(size, old).cPath, path(size, new).cPath) }
    }
}
