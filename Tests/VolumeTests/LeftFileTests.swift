import Testing

@testable import FileSystem

/// What the kernel still has to do with when the mount is taken away.
@Suite struct LeftFileTests {
    @Test func `a file that the kernel still knew at the unmount is not told as a crash`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            try container.save("a", [1, 2, 3])
            try container.save("b", [4])
            // Nothing here forgets a node, as the kernel does not when it is unmounted.
            try container.remove("a")
            container.close()
            let again = try InsideContainer(path)
            defer { again.close() }
            #expect(again.recovered == nil, "\(String(describing: again.recovered))")
            #expect(try again.read("a") == nil)
            #expect(try again.read("b") == [4])
        }
    }

    /// The mount is taken away when the last close has returned and the kernel has not let go of the file.
    @Test func `what was closed at the unmount is published, and not told as a crash`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            try container.save("a", [1, 2, 3])
            try container.save("a", [4, 5], isReleased: false)
            try container.save("b", [6], isReleased: false)
            container.close()
            let again = try InsideContainer(path)
            defer { again.close() }
            #expect(again.recovered == nil, "\(String(describing: again.recovered))")
            #expect(try again.read("a") == [4, 5])
            #expect(try again.read("b") == [6])
        }
    }

    /// While a document is being written each use of its name is a LOOKUP, and nothing is forgotten.
    @Test func `a file that is looked up four thousand million times is one like others`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1, 2, 3])
            let node = try #require(try container.find("a"))
            container.volume.state.withLock { state in
                state.index[item: state.index.find(node.item)].pointee.lookups = .max - 2
            }
            for _ in 0..<5 { #expect(try container.find("a") == node) }
            container.volume.forget(node, 1 << 32)
            try container.save("a", [4])
            #expect(try container.read("a") == [4])
        }
    }
}
