internal import CCrypto

/// A hash over bytes that come piece by piece, by libcrypto. One thread at a time.
package final class RunningDigest {
    package enum Algorithm { case sha256, md5 }

    private let context: OpaquePointer
    private let size: Int

    package init(_ algorithm: Algorithm) {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("no memory for a digest") }
        self.context = context
        let result: Int32
        switch algorithm {
        case .sha256:
            size = 32
            result = EVP_DigestInit_ex(context, EVP_sha256(), nil)
        case .md5:
            size = 16
            result = EVP_DigestInit_ex(context, EVP_md5(), nil)
        }
        precondition(result == 1, "libcrypto has no such digest")
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all bytes so far; nothing can be added afterwards.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: size)
        EVP_DigestFinal_ex(context, &digest, nil)
        return digest
    }

    /// The digest of `bytes`.
    package static func of(_ bytes: [UInt8], _ algorithm: Algorithm = .sha256) -> [UInt8] {
        let digest = RunningDigest(algorithm)
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finish()
    }
}
