import Testing

@testable import FileSystem

@Suite struct VirtualNodeTests {
    /// A node is kept twice for each picture that was looked at, until the kernel forgets it.
    @Test func `what the kernel knows of pictures takes little memory`() {
        #expect(MemoryLayout<VirtualNode>.size <= 48)
    }
}
