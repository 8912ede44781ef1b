internal import Glibc
package import Model
internal import PathText
internal import SystemCalls
internal import Thumbnailing

/// The files of pictures below a container's folder: `pictures/<2 digits>/<node>`.
///
/// Any thread. A file appears whole or not at all; it is not synced, since it can be drawn again.
package struct PictureFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Where a version's pictures are. The digits that change fastest choose the folder.
    package func file(_ node: NodeNumber) -> String { shelf(node) + "/" + node.fileName }

    private func shelf(_ node: NodeNumber) -> String { path + "/" + node.fileName.suffix(2) }

    /// The node of a file's name in a folder's; nil if they are not as they are written here.
    package static func node(shelf: String, name: String) -> NodeNumber? {
        guard name.utf8.count == 16, name.hasSuffix(shelf), shelf.utf8.count == 2,
            let value = UInt64(name, radix: 16), name == hexadecimal(value)
        else { return nil }
        return NodeNumber(rawValue: value)
    }

    /// Whether a file was being written when the program ended: `<node>.<process>-<number>`.
    package static func isUnfinished(shelf: String, name: String) -> Bool {
        guard let dot = name.firstIndex(of: "."),
            node(shelf: shelf, name: String(name[..<dot])) != nil
        else { return false }
        let parts = name[name.index(after: dot)...].split(
            separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { UInt64($0) != nil }
    }

    /// - Parameter moment: the file's time.
    func put(_ bytes: [UInt8], for node: NodeNumber, at moment: Timestamp) throws(Errno) {
        let target = file(node)
        let temporary = "\(target).\(processIdentifier())-\(UInt64.random(in: 0 ... .max))"
        let flags = O_WRONLY | O_CREAT | O_EXCL
        var made: OwnedDescriptor
        do throws(Errno) {
            made = try OwnedDescriptor.open(temporary, flags, mode: 0o600)
        } catch {
            guard error.code == ENOENT else { throw error }
            try Directories.make(shelf(node))
            made = try OwnedDescriptor.open(temporary, flags, mode: 0o600)
        }
        do throws(Errno) {
            try made.write(bytes, at: 0)
            try made.setModified(moment.seconds, moment.nanoseconds)
            try check { rename(temporary.cPath, target.cPath) }
        } catch {
            unlink(temporary.cPath)
            throw error
        }
    }

    package func remove(_ node: NodeNumber) { unlink(file(node).cPath) }

    /// The head of a version's file and when it was written; nil if it is missing or not whole.
    package func head(_ node: NodeNumber) -> (file: PictureFile, written: Timestamp)? {
        guard let file = open(node) else { return nil }
        return Self.head(of: file)
    }

    /// A version's file; nil if it is missing. What is no file, as a pipe, is none either: nobody waits for
    /// its other end.
    private func open(_ node: NodeNumber) -> OwnedDescriptor? {
        guard let file = try? OwnedDescriptor.open(self.file(node), O_RDONLY | O_NONBLOCK),
            let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return file
    }

    private static func head(of file: borrowing OwnedDescriptor)
        -> (file: PictureFile, written: Timestamp)?
    {
        guard let status = try? file.status() else { return nil }
        let size = Int(status.st_size)
        guard let bytes = read(file, 0..<min(size, PictureFile.headBytes)),
            let head = PictureFile(head: bytes, size: size)
        else { return nil }
        return (
            head,
            Timestamp(
                seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
        )
    }

    /// Whether a version's file is there whole and has a picture that is not as it was written. Reads all
    /// of it.
    package func isDamaged(_ node: NodeNumber) -> Bool {
        guard let bytes = read(node), let file = PictureFile(bytes) else { return false }
        return file.places.values.contains { PNGFile(Array(bytes[$0])) == nil }
    }

    /// The whole file; nil if it is missing.
    func read(_ node: NodeNumber) -> [UInt8]? {
        guard let file = open(node), let size = try? file.status().st_size else { return nil }
        return Self.read(file, 0..<Int(size))
    }

    /// One of the pictures of a version that was drawn as a type; nil if it is missing. Where it is,
    /// the head of the same file says: at any moment another one may come in its place, with further
    /// sizes and so with other places.
    func read(_ node: NodeNumber, _ type: PictureType, _ size: PictureSize) -> [UInt8]? {
        guard let file = open(node), let head = Self.head(of: file)?.file, head.type == type,
            let place = head.places[size]
        else { return nil }
        return Self.read(file, place)
    }

    private static func read(_ file: borrowing OwnedDescriptor, _ place: Range<Int>) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: place.count)
        let count = try? file.read(into: &bytes, at: Int64(place.lowerBound))
        return count == bytes.count ? bytes : nil
    }
}
