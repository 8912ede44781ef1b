internal import Documents
internal import Glibc
internal import Model
internal import SystemCalls

/// `.shapeedit/find` of a mount: what a query finds now.
enum FindFile {
    /// The results, and why some may be missing.
    ///
    /// - Parameter query: its folder is below the mount.
    static func read(_ query: Query, in mountPoint: String) throws(Failure)
        -> (results: [FoundItem], problem: String?)
    {
        let path = mountPoint + "/.shapeedit/find/" + query.description
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try WholeFile.read(try OwnedDescriptor.open(path, O_RDONLY), limit: 1 << 31)
        } catch {
            switch error.code {
            case ENOENT: throw Failure(.noInput, "\(mountPoint)/\(query.folder): \(error)")
            case EACCES, EPERM:
                throw Failure(
                    .noPermission, "\(mountPoint): only the owner of the mount may search")
            case ENAMETOOLONG: throw Failure(.usage, "the query is too long")
            default: throw Failure(.inputOutput, "\(mountPoint): \(error)")
            }
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        guard let head = (try? JSONValue.read(Array(bytes[..<end])))?.object,
            let count = head["count"]?.integer
        else { throw Failure(.inputOutput, "\(path): the answer is not whole") }
        var found: [FoundItem] = []
        found.reserveCapacity(count)
        bytes.withUnsafeBytes { bytes in
            var reader = ResultReader(bytes, from: end, in: mountPoint)
            while let item = reader.next() { found.append(item) }
        }
        if found.count != count { throw Failure(.inputOutput, "\(path): the answer is not whole") }
        return (found, head["problem"]?.string)
    }
}
