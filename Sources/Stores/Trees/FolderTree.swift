internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// A folder of this machine as a source. Symlinks are shown and not followed; what is neither a folder,
/// a file nor a symlink is passed over and counted, and so are mounts of ShapeEdit.
package struct FolderTree: SourceTree {
    /// Bytes read at a time.
    private static let chunk = 1 << 20

    private let path: String
    package var address: String { "folder:" + path }

    package init(path: String) { self.path = path }

    package func walk(
        _ call: StoreCall, _ visit: (SourceEntry) throws(StoreError) -> Void
    ) throws(StoreError) -> PassedOver {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { throw problem(Errno.last, []) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw problem(Errno(ENOTDIR), []) }
        var passedOver = PassedOver()
        var folders: [[UInt8]] = [[]]
        while let folder = folders.popLast() {
            do throws(StoreError) {
                let isThere = try list(folder, of: status, call) {
                    passedOver.noteClosed($0, $1)
                } visit: { (path, found) throws(StoreError) in
                    switch found {
                    case .shown(let entry):
                        try visit(entry)
                        if entry.kind == .folder { folders.append(path) }
                    case .hidden(let isFolder):
                        passedOver.noteUnshown(String(path: path), at: path, isFolder: isFolder)
                    case .special: passedOver.note(String(path: path))
                    }
                }
                if !isThere { passedOver.hasGone = true }
            } catch {
                // One that is closed to us does not keep us from the others.
                guard error.kind == .denied, !folder.isEmpty else { throw error }
                passedOver.noteClosed(folder, error)
            }
        }
        return passedOver
    }

    /// What is by a name.
    private enum Found {
        case shown(SourceEntry)
        /// A folder, a file or a symlink that cannot be shown as it is now.
        case hidden(isFolder: Bool)
        /// Neither of them: what was there before is gone.
        case special
    }

    /// - Parameters:
    ///   - root: what the tree's own folder was at the beginning.
    ///   - visit: gets the path of each thing.
    /// - Returns: `false` if the folder has gone since it was shown.
    private func list(
        _ folder: [UInt8], of root: stat, _ call: StoreCall, closed: ([UInt8], StoreError) -> Void,
        visit: ([UInt8], Found) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        let descriptor = descriptor(folder, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0, let directory = fdopendir(descriptor) else {
            let error = Errno.last
            if descriptor >= 0 { close(descriptor) }
            if isGone(folder, error, root) { return false }
            throw problem(error, folder)
        }
        defer { closedir(directory) }
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw problem(Errno.last, folder) }
        let keepsNumbers = Directories.keepsNumbers(descriptor)
        while true {
            errno = 0
            guard let entry = readdir(directory) else {
                if errno == 0 { return true }
                throw problem(Errno.last, folder)
            }
            try call.cancellation.check(at: address)
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard SourceEntry.isName(name) else { continue }
            let path = folder.isEmpty ? name : folder + [0x2f] + name
            var status = stat()
            let found: Found
            do throws(StoreError) {
                guard try look(name, in: dirfd(directory), path, &status) else { continue }
                found = self.entry(
                    path, status, in: dirfd(directory), name,
                    isNumbered: keepsNumbers && status.st_dev == own.st_dev)
            } catch {
                // Such as a mount of another user: the folder is not closed by that.
                guard error.kind == .denied, faccessat(dirfd(directory), ".", X_OK, 0) == 0
                else { throw error }
                closed(path, error)
                continue
            }
            try visit(path, found)
        }
    }

    /// Whether a folder that was shown has gone since, and not the disk with all that is in the tree.
    private func isGone(_ folder: [UInt8], _ error: Errno, _ root: stat) -> Bool {
        guard !folder.isEmpty, error.code == ENOENT || error.code == ENOTDIR else { return false }
        var now = stat()
        return stat(path.cPath, &now) == 0 && now.st_dev == root.st_dev
            && now.st_ino == root.st_ino
    }

    /// Whether it is still there.
    private func look(
        _ name: [UInt8], in directory: Int32, _ path: [UInt8], _ status: inout stat
    ) throws(StoreError) -> Bool {
        guard fstatat(directory, Self.cName(name), &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return false }
            throw problem(Errno.last, path)
        }
        return true
    }

    /// - Parameter isNumbered: its number tells it from others, also later.
    private func entry(
        _ path: [UInt8], _ status: stat, in directory: Int32, _ name: [UInt8], isNumbered: Bool
    ) -> Found {
        let name = Self.cName(name)
        let kind: SourceEntry.Kind
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            if isShapeEdit(path, status.st_dev, above: directory) {
                return .hidden(isFolder: true)
            }
            kind = .folder
        case S_IFREG:
            let size = Int64(status.st_size)
            guard size <= SourceEntry.largest else { return .hidden(isFolder: false) }
            kind = .file(size)
        case S_IFLNK:
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlinkat(directory, name, &target, target.count)
            guard count > 0 else { return .hidden(isFolder: false) }
            kind = .symlink(target: target[..<count].map { UInt8(bitPattern: $0) })
        default: return .special
        }
        // A file's number is used again when it is gone. That of one with several names tells none of
        // them from the others.
        let birth = Directories.birthTime(name, in: directory)
        let hasOtherNames = kind != .folder && status.st_nlink > 1
        let entry = SourceEntry(
            kind, path: path,
            identity: hasOtherNames || !isNumbered
                ? [] : Array("\(status.st_dev):\(status.st_ino):\(birth)".utf8),
            tag: kind == .folder ? [] : Self.tag(status, isNumbered: isNumbered),
            modified: Timestamp(
                seconds: Int64(status.st_mtim.tv_sec),
                nanoseconds: Int64(status.st_mtim.tv_nsec)),
            mode: status.st_mode & 0o777)
        guard SourceEntry.isBounded(path, identity: entry.identity, tag: entry.tag) else {
            return .hidden(isFolder: kind == .folder)
        }
        return .shown(entry)
    }

    /// Listing the very mount that is imported to would never end.
    private func isShapeEdit(_ path: [UInt8], _ device: dev_t, above directory: Int32) -> Bool {
        var parent = stat()
        guard fstat(directory, &parent) == 0, parent.st_dev != device else { return false }
        let mark = try? PathAttributes.value(
            "user.shapeedit.container", of: self.path + "/" + String(path: path))
        return mark != nil
    }

    private static func cName(_ name: some Collection<UInt8>) -> [CChar] {
        name.map { CChar(bitPattern: $0) } + [0]
    }

    private static func tag(_ status: stat, isNumbered: Bool) -> [UInt8] {
        let number = isNumbered ? status.st_ino : 0
        return Array(
            "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec):\(status.st_size):\(number)".utf8)
    }

    package func read(
        _ object: SourceObject, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        let descriptor = descriptor(object.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            let error = Errno.last
            switch error.code {
            // Also if a file has the name of its folder now.
            case ENOENT, ENOTDIR:
                if access(path.cPath, F_OK) == 0 { throw object.gone(address) }
            // A symlink has its name.
            case ELOOP: throw object.changed(address)
            default: break
            }
            throw problem(error, object.path)
        }
        defer { close(descriptor) }
        try compare(descriptor, object)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(Self.chunk, max(range.count, 1)), alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try call.cancellation.check(at: address)
            let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw problem(Errno.last, object.path) }
            if count == 0 { throw object.changed(address) }
            // What was read before a change is told from what came after it.
            try compare(descriptor, object)
            try sink.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
            call.progress?(offset - range.lowerBound)
        }
    }

    private func compare(_ descriptor: Int32, _ object: SourceObject) throws(StoreError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw problem(Errno.last, object.path) }
        let isNumbered = !object.tag.suffix(2).elementsEqual(":0".utf8)
        guard Self.tag(status, isNumbered: isNumbered) == object.tag,
            Int64(status.st_size) == object.blob.size
        else {
            throw object.changed(address)
        }
    }

    /// Opens what is in the tree, in steps where the path is longer than the kernel takes at once.
    ///
    /// - Returns: -1, and `errno`, if it cannot be opened.
    private func descriptor(_ path: [UInt8], _ flags: Int32) -> Int32 {
        var rest = (self.path.pathBytes + [0x2f] + path)[...]
        var folder = AT_FDCWD
        defer { if folder >= 0 { close(folder) } }
        while rest.count >= PATH_MAX,
            let slash = rest.prefix(Int(PATH_MAX) - 1).lastIndex(of: 0x2f)
        {
            let flags = OwnedDescriptor.pathOnly | O_DIRECTORY | O_CLOEXEC
            let next = openat(folder, Self.cName(rest[..<slash]), flags)
            guard next >= 0 else { return -1 }
            if folder >= 0 { close(folder) }
            folder = next
            rest = rest[(slash + 1)...]
        }
        return openat(folder, Self.cName(rest), flags | O_CLOEXEC)
    }

    private func problem(_ error: Errno, _ path: [UInt8]) -> StoreError {
        let kind: StoreError.Kind =
            switch error.code {
            case EACCES, EPERM: .denied
            case ETIMEDOUT: .timedOut
            default: .unreachable
            }
        let name = path.isEmpty ? "the folder" : String(path: path)
        return StoreError(kind, at: address, "\(name): \(error)")
    }
}
