import Glibc
import Testing

/// Threads that were sent round by ESTALE.
@Suite struct RedirectingTests {
    @Test func `a thread that was sent round and reads keeps no close from publishing`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1])
            try container.save("b", [2])
            // A process that is there.
            let other: Int32 = 1
            let sent = try container.open("a", O_WRONLY, by: other)
            #expect(sent == ESTALE)
            try container.remove("a")
            let inVain = try container.open("a", O_WRONLY, by: other)
            #expect(inVain == ENOENT)
            // The name leads to another document by now, and the thread joins that one's session.
            try container.rename("b", to: "a")
            let read = try container.open("a", O_RDONLY, by: other)
            #expect(read == 0)
            try container.save("a", [3])
            let content = try container.read("a")
            #expect(content == [3])
        }
    }

    /// The kernel walks the path again for a thread that was sent round, and it can be killed on the way.
    @Test(arguments: [false, true])
    func `a thread that is killed on its way keeps no close from publishing`(isKilledLater: Bool)
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1])
            var other = pid_t()
            let words: [String] = ["/bin/sleep", "60"]
            var arguments = words.map { strdup($0) } + [nil]
            defer { for word in arguments { free(word) } }
            try #require(posix_spawn(&other, words[0], nil, nil, &arguments, environ) == 0)
            defer { waitpid(other, nil, 0) }
            let sent = try container.open("a", O_WRONLY, by: other)
            #expect(sent == ESTALE)
            // Its parent does not take notice before the end.
            if !isKilledLater { kill(other, SIGKILL) }
            try container.save("a", [2])
            if isKilledLater {
                kill(other, SIGKILL)
                usleep(500_000)
            }
            let content = try container.read("a")
            #expect(content == [2])
        }
    }

    @Test func `a folder that was away for a moment keeps nobody from where they were sent`() throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1])
            let folder = try container.makeFolder("folder")
            try container.rename("a", to: "a", in: folder)
            let other: Int32 = 1
            let sent = try container.open("a", O_WRONLY, by: other, in: folder)
            #expect(sent == ESTALE)
            // The kernel walks the path again: it asks for a folder that it finds gone once more.
            try container.rename("folder", to: "elsewhere")
            #expect(try container.find("folder", InsideContainer.caller(of: other)) == nil)
            try container.rename("elsewhere", to: "folder")
            #expect(try container.find("folder", InsideContainer.caller(of: other)) == folder)
            let opened = try container.open("a", O_WRONLY, by: other, in: folder)
            #expect(opened == 0)
        }
    }

    @Test func `who opens a granted document is not told that it was saved meanwhile`() throws {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path)
            defer { container.close() }
            try container.save("a", [1])
            let document = try container.grant("a", to: "notes")
            let other: Int32 = 1
            let sent = try container.open(granted: document, to: "notes", by: other)
            #expect(sent == ESTALE)
            // The owner saves by renaming before the kernel has walked the path again, which it does
            // once only.
            try container.save("a.tmp", [2])
            try container.rename("a.tmp", to: "a")
            let opened = try container.open(granted: document, to: "notes", by: other)
            #expect(opened == 0)
        }
    }

    @Test func `a thread that is sent round to another document has its pictures forgotten`()
        throws
    {
        try InsideContainer.withFolder { path in
            let container = try InsideContainer(path, hasPictures: true)
            defer { container.close() }
            try container.save("a.slide", [1])
            try container.save("b.slide", [2])
            let other: Int32 = 1
            let sent = try container.open("a.slide", O_WRONLY, by: other)
            #expect(sent == ESTALE)
            try container.rename("b.slide", to: "a.slide")
            try container.lookAtPicture("a.slide")
            // Its LOOKUP begins a session of what was `b`.
            let opened = try container.open("a.slide", O_WRONLY, by: other)
            #expect(opened == 0)
            #expect(!container.keepsStalePictures)
        }
    }
}
