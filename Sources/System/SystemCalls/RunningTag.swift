internal import CCrypto

/// An authentication tag (GMAC, by AES-128) over bytes that come piece by piece: a fifth of the work of
/// SHA-256, and worth as much to whoever keeps the key. One thread at a time.
package final class RunningTag {
    /// Bytes of a key, and of a tag.
    package static let size = 16

    private let context: OpaquePointer

    /// - Parameters:
    ///   - key: ``size`` secret bytes.
    ///   - number: of the message; no two messages of a key may have the same.
    package init(key: [UInt8], number: UInt32) {
        precondition(key.count == Self.size, "a key of the wrong size")
        var nonce = [UInt8](repeating: 0, count: 12)
        for place in 0..<4 { nonce[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("no memory for a tag") }
        self.context = context
        let result = EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce)
        precondition(result == 1, "libcrypto has no AES-GCM")
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        var count: Int32 = 0
        // Without a place for ciphertext the bytes are authenticated only.
        EVP_EncryptUpdate(
            context, nil, &count, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count))
    }

    /// The tag of all bytes so far; nothing can be added afterwards.
    package func finish() -> [UInt8] {
        var count: Int32 = 0
        var tag = [UInt8](repeating: 0, count: Self.size)
        EVP_EncryptFinal_ex(context, &tag, &count)
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.size), &tag)
        return tag
    }
}
