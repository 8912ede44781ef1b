internal import Documents
internal import Glibc
internal import Model
internal import SystemCalls

/// `.shapeedit/find` of a mount: what a query finds now.
enum FindFile {
    /// Reads the results one after the other; why some may be missing.
    ///
    /// - Parameters:
    ///   - query: its folder is below the mount.
    ///   - body: takes a result. If this throws, it has had some of them only.
    static func read(
        _ query: Query, in mountPoint: String, _ body: (FoundText) -> Void
    ) throws(Failure) -> String? {
        guard let file = try open(query, in: mountPoint) else {
            return try ask(query, in: mountPoint, body)
        }
        var lines = Lines(file, mountPoint)
        do throws(Errno) { while try lines.read(body) {} } catch {
            throw Failure(.inputOutput, "\(mountPoint): \(error)")
        }
        guard lines.isWhole else {
            throw Failure(.inputOutput, "\(mountPoint): the answer is not whole")
        }
        return lines.head?["problem"]?.string
    }

    /// What is said to others than the owner of the mount.
    static func refused(_ mountPoint: String) -> Failure {
        Failure(.noPermission, "\(mountPoint): only the owner of the mount may search")
    }

    /// The file of the results; `nil` if no name of a file can hold the query.
    private static func open(
        _ query: Query, in mountPoint: String
    ) throws(Failure) -> OwnedDescriptor? {
        let path = mountPoint + "/.shapeedit/find/" + query.description
        do throws(Errno) { return try OwnedDescriptor.open(path, O_RDONLY) } catch {
            switch error.code {
            case ENOENT: throw Failure(.noInput, "\(mountPoint)/\(query.folder): \(error)")
            case EACCES, EPERM:
                throw refused(mountPoint)
            case ENAMETOOLONG: return nil
            case ENOTCONN, ECONNABORTED: throw Failure.mountIsDead(mountPoint)
            default: throw Failure(.inputOutput, "\(mountPoint): \(error)")
            }
        }
    }

    /// A query that no name of a file can hold, as that of a deep folder, is asked by the control socket.
    private static func ask(
        _ query: Query, in mountPoint: String, _ body: (FoundText) -> Void
    ) throws(Failure) -> String? {
        if query.description.utf8.count > Query.longest {
            throw Failure(.usage, "\(mountPoint): the query is too long")
        }
        // Who may not search, or finds the mount dead, is told by that.
        _ = try open(Query(), in: mountPoint)
        let asked = try MountQuery(query, in: mountPoint)
        for result in try asked.results() { body(.odd(result)) }
        return asked.problem
    }
}

/// The lines of an answer, which may be long: they are read a part at a time.
private struct Lines: ~Copyable {
    /// The first line.
    private(set) var head: JSONObject?
    private var count = 0
    private let file: OwnedDescriptor
    private let mountPoint: String
    private var buffer = [UInt8](repeating: 0, count: 1 << 20)
    /// Bytes at the beginning of the buffer that are no whole line.
    private var rest = 0

    init(_ file: consuming OwnedDescriptor, _ mountPoint: String) {
        self.file = file
        self.mountPoint = mountPoint
    }

    /// There are as many results as the first line says.
    var isWhole: Bool { rest == 0 && head?["count"]?.integer == count }

    /// Reads a part; false at the end.
    mutating func read(_ body: (FoundText) -> Void) throws(Errno) -> Bool {
        if rest == buffer.count { buffer += [UInt8](repeating: 0, count: rest) }
        let count = try check {
            buffer.withUnsafeMutableBytes { [rest] in
                Glibc.read(file.number, $0.baseAddress.map { $0 + rest }, $0.count - rest)
            }
        }
        let end = rest + count
        let whole = (buffer[..<end].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        take(whole, body)
        buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            memmove(base, base + whole, end - whole)
        }
        rest = end - whole
        return count > 0
    }

    /// Takes the lines up to an end.
    private mutating func take(_ end: Int, _ body: (FoundText) -> Void) {
        var start = 0
        if head == nil, let line = buffer[..<end].firstIndex(of: UInt8(ascii: "\n")) {
            head = (try? JSONValue.read(Array(buffer[..<line])))?.object
            start = line
        }
        buffer.withUnsafeBytes { bytes in
            let lines = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            var reader = ResultReader(lines, from: start, in: mountPoint)
            while let result = reader.next() {
                body(result)
                count += 1
            }
        }
    }
}
