internal import CCrypto
internal import Glibc

/// SHA-256 by libcrypto.
public enum Hashing {
    /// Bytes read at a time from a file: fits the second-level cache.
    private static let chunk = 256 * 1024

    /// The 32 bytes of the SHA-256 of `size` bytes of the file from `start` on, and how many there
    /// were: less if the file is shorter.
    public static func sha256(
        of descriptor: borrowing OwnedDescriptor, from start: Int64 = 0, size: Int64
    ) throws(Errno) -> (count: Int64, digest: [UInt8]) {
        let digest = RunningDigest(.sha256)
        let count = try read(descriptor, from: start, size: size) { digest.update($0) }
        return (count, digest.finish())
    }

    /// Hands `size` bytes of the file from `start` on to `take`, part by part; how many there were:
    /// less if the file is shorter.
    package static func read(
        _ descriptor: borrowing OwnedDescriptor, from start: Int64, size: Int64,
        _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(Errno) -> Int64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(Int64(chunk), max(size, 1))), alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            let wanted = Int(min(Int64(buffer.count), size - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            let count = try descriptor.read(into: part, at: start + offset)
            take(UnsafeRawBufferPointer(rebasing: part[..<count]))
            offset += Int64(count)
            if count < wanted { break }
        }
        return offset
    }

    /// The 32 bytes of the SHA-256 of some bytes.
    public static func sha256(_ bytes: [UInt8]) throws(Errno) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else {
            throw Errno(ENOTSUP)
        }
        return digest
    }

    /// The 16 bytes of the MD5 of some bytes, for names that others look for under it; worth nothing
    /// against forgery.
    public static func md5(_ bytes: [UInt8]) throws(Errno) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_md5(), nil) == 1 else {
            throw Errno(ENOTSUP)
        }
        return digest
    }

    /// The 32 bytes of the HMAC-SHA-256 of a message.
    public static func authentication(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var count = 0
        let made = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &result,
            result.count, &count)
        precondition(made != nil && count == 32, "libcrypto has no HMAC")
        return result
    }
}
