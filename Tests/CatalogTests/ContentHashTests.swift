import Model
import Testing

/// How hashes are written.
@Suite struct ContentHashTests {
    @Test func `a hash is its bytes, and written as their hexadecimal digits in order`() throws {
        let bytes: [UInt8] = (0..<32).map { $0 &* 37 &+ 5 }
        let hash = try #require(ContentHash(bytes: bytes))
        #expect(hash.bytes == bytes)
        #expect(
            hash.description == "052a4f7499bee3082d52779cc1e60b30557a9fc4e90e33587da2c7ec11365b80")
        #expect(ContentHash(bytes: bytes.dropLast()) == nil)
    }
}
