package import Content
package import Stores
internal import SystemCalls

/// Where the bytes of a content are that is on its way. Any thread; a block is not read before it has
/// come whole, and not written afterwards.
package enum IncomingBytes: Sendable {
    case file(SharedDescriptor)
    /// Small ones, thousands of which may wait to be taken over: a descriptor is dearer than the bytes.
    case memory(IncomingMemory)

    /// Puts bytes where they belong.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        switch self {
        case .file(let file):
            try file.with { (file) throws(Errno) in try file.write(bytes, at: offset) }
        case .memory(let memory): memory.write(bytes, at: Int(offset))
        }
    }

    /// What has come, for a read.
    package func part(of blob: Blob) -> ContentPart {
        switch self {
        case .file(let file): .range(file, offset: 0, size: blob.size)
        case .memory(let memory): .bytes(memory.bytes[...])
        }
    }
}

/// The bytes of a small content that is on its way.
package final class IncomingMemory: Sendable {
    private let state: Lock<[UInt8]>

    /// - Parameter size: in bytes; they are zero before they come.
    init(size: Int) { state = Lock([UInt8](repeating: 0, count: size)) }

    var bytes: [UInt8] { state.withLock { $0 } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        state.withLock { state in
            // A store does not give more than was asked for; if it did, this would not be the place.
            guard offset + bytes.count <= state.count else { return }
            state.withUnsafeMutableBytes {
                UnsafeMutableRawBufferPointer(rebasing: $0[offset...]).copyMemory(from: bytes)
            }
        }
    }
}
