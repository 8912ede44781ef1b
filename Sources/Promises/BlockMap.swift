internal import Content
internal import Glibc
internal import SystemCalls

/// Which blocks of an incoming content are there: a byte for each, beside it on the disk, so that
/// they need not come again after the daemon's death. Guarded by its owner.
struct BlockMap: ~Copyable {
    private let file: SharedDescriptor?
    private var present: [UInt8]
    private(set) var missing: Int

    /// The map of a content that comes as one block: that is there or comes again, and making a file
    /// would cost more than a small content.
    ///
    /// - Parameter isEmpty: of a content without bytes nothing is missing.
    init(isEmpty: Bool) {
        file = nil
        present = isEmpty ? [] : [0]
        missing = isEmpty ? 0 : 1
    }

    /// Opens the map of `count` blocks, or makes an empty one.
    init(_ path: String, count: Int) throws(Errno) {
        let file = try OwnedDescriptor.openOwn(path, O_RDWR)
        var present = [UInt8](repeating: 0, count: count)
        let read = try Self.fill(&present, file)
        let size = Int(try file.status().st_size)
        if read != count || size != count {
            // It was for another way of bringing the content.
            present = [UInt8](repeating: 0, count: count)
            try check { ftruncate(file.number, 0) }
            try file.write(present, at: 0)
        }
        missing = present.count { $0 != 1 }
        self.present = present
        self.file = SharedDescriptor(file)
    }

    private static func fill(_ bytes: inout [UInt8], _ file: borrowing OwnedDescriptor)
        throws(Errno) -> Int
    {
        let count = bytes.count
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        let read = try file.read(into: buffer, at: 0)
        for index in 0..<read { bytes[index] = buffer[index] }
        return read
    }

    func has(_ block: Int) -> Bool { present[block] == 1 }

    /// Notes that a block's bytes are in the file.
    mutating func add(_ block: Int) throws(Errno) {
        if present[block] == 1 { return }
        try file?.with { (file) throws(Errno) in try file.write([1], at: Int64(block)) }
        present[block] = 1
        missing -= 1
    }
}
