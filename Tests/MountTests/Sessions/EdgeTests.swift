import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// The known edges of redirecting writers to a session.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct EdgeTests {
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `a reader re-opened for writing through /proc works`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            for flags in [O_RDWR, O_WRONLY, O_WRONLY | O_TRUNC, O_RDWR | O_APPEND] {
                agent.store("file", "old content")
                let reading = agent.open("file", O_RDONLY)
                let path: ByteString = "/proc/self/fd/\(reading.number)"
                let writing = agent.open(path, flags)
                agent.write(writing, "NEW")
                let size = flags & O_TRUNC != 0 ? 3 : flags & O_APPEND != 0 ? 14 : 11
                #expect(reader.content("file") == "old content")
                agent.close(writing)
                agent.close(reading)
                #expect(reader.status("file").size == size)
                #expect(reader.content("file").text.contains("NEW"), "flags \(flags)")
            }
            // After a rename and after being replaced.
            agent.store("file", "old")
            let moved = agent.open("file", O_RDONLY)
            reader.rename("file", "renamed")
            let again = agent.open("/proc/self/fd/\(moved.number)", O_WRONLY | O_TRUNC)
            agent.write(again, "new")
            agent.close(again)
            #expect(reader.content("renamed") == "new")
            reader.unlink("renamed")
            let gone = agent.open("/proc/self/fd/\(moved.number)", O_RDWR)
            agent.write(gone, "nowhere")
            agent.close(gone)
            #expect(reader.names(".") == [])
        }
    }

    /// The kernel has the version's own file for the descriptor, and would write to it.
    @Test(.enabled(if: DataPath.isPrivileged, "needs passthrough"))
    func `a mapping through /proc changes no published version, though it is sealed meanwhile`()
        throws
    {
        try withVolume(.passthrough) { volume in
            // As where there are many contents: then a file only has to be moved.
            let blobs = "\(try #require(volume.container).folder)/blobs"
            for number in 0..<256 {
                let digits = String(number, radix: 16)
                mkdir("\(blobs)/\(number < 16 ? "0" : "")\(digits)", 0o700)
            }
            let agent = try volume.agent()
            let content = ByteString(repeating: "A", count: 300_000)
            agent.store("file", content)
            let script = """
                import mmap, os, sys, time
                reading = os.open("file", os.O_RDONLY)
                os.pread(reading, 1, 0)
                writing = os.open(f"/proc/self/fd/{reading}", os.O_RDWR)
                open("other", "w").write("other")
                end = time.monotonic() + 60
                while not any(files for _, _, files in os.walk(sys.argv[1])):
                    assert time.monotonic() < end, "nothing is sealed"
                    time.sleep(0.1)
                time.sleep(0.5)
                child = os.fork()
                if child == 0:
                    mmap.mmap(writing, 300000)[100:104] = b"EVIL"
                    os._exit(0)
                assert os.waitpid(child, 0)[1] != 0
                assert os.pread(reading, 4, 100) == b"AAAA"
                """
            let result = agent.run("python3", "-c", ByteString(script), ByteString(blobs))
            #expect(result.status == 0, "\(result)")
            #expect(agent.content("file") == content)
        }
    }

    /// A mapping that the kernel passes through outlives its descriptor, of whose end alone is told.
    @Test(.enabled(if: DataPath.isPrivileged, "needs passthrough"))
    func `a mapping through /proc changes no published version, though its descriptor is closed`()
        throws
    {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            let content = ByteString(repeating: "A", count: 300_000)
            agent.store("file", content)
            let script = """
                import ctypes, os, time
                libc = ctypes.CDLL(None, use_errno=True)
                libc.mmap.restype = ctypes.c_void_p
                libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
                reading = os.open("file", os.O_RDONLY)
                os.pread(reading, 1, 0)
                writing = os.open(f"/proc/self/fd/{reading}", os.O_RDWR)
                place = libc.mmap(None, 300000, 3, 1, writing, 0)
                os.close(writing)
                # Its RELEASE comes after that.
                time.sleep(1)
                child = os.fork()
                if child == 0:
                    ctypes.memmove(place + 100, b"EVIL", 4)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] != 0
                assert os.pread(reading, 4, 100) == b"AAAA"
                """
            let result = agent.run("python3", "-c", ByteString(script))
            #expect(result.status == 0, "\(result)")
            #expect(agent.content("file") == content)
        }
    }

    /// No path is walked again, so the kernel had the version before under the file's names until it
    /// forgot them for another reason.
    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what is truncated through /proc is seen by others at once`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            agent.store("file", "old content")
            agent.link("file", "link")
            for (name, size): (ByteString, Int) in [("file", 7), ("link", 3), ("file", 0)] {
                let reading = agent.open(name, O_RDONLY)
                #expect(reader.content("file") == reader.content("link"))
                agent.truncate("/proc/self/fd/\(reading.number)", size: size)
                for name: ByteString in ["file", "link"] {
                    #expect(reader.status(name).size == size)
                    #expect(reader.content(name).text == String("old content".prefix(size)))
                }
                agent.close(reading)
            }
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs open_by_handle_at"), arguments: DataPath.mounts)
    func `files open by handle for reading and writing`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            agent.store("file", "content")
            agent.makeDirectory("dir")
            let mount = agent.open(".", O_RDONLY | O_DIRECTORY)
            for path: ByteString in ["file", "dir"] {
                let handle = agent.handle(path)
                let opened = agent.open(handle: handle, mount: mount, O_RDONLY)
                #expect(agent.status(opened).inode == agent.status(path).inode)
                agent.close(opened)
            }
            let handle = agent.handle("file")
            let reading = agent.open(handle: handle, mount: mount, O_RDONLY)
            #expect(agent.read(reading) == "content")
            let writing = agent.open(handle: handle, mount: mount, O_RDWR)
            agent.write(writing, "CON")
            #expect(reader.content("file") == "content")
            agent.close(writing)
            agent.close(reading)
            #expect(reader.content("file") == "CONtent")
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs open_by_handle_at"), arguments: DataPath.mounts)
    func `file handles outlive a remount`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "content")
            let handle = agent.handle("file")
            try volume.remount()
            let after = try volume.agent()
            #expect(after.handle("file") == handle)
            let mount = after.open(".", O_RDONLY | O_DIRECTORY)
            let file = after.open(handle: handle, mount: mount, O_RDONLY)
            #expect(after.read(file) == "content")
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged && isInstalled("unshare"), "needs root and unshare"),
        arguments: DataPath.mounts)
    func `processes in another pid namespace read and write as all do`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            agent.store("file", "old")
            let script =
                "echo one > file; test \"$(cat file)\" = one || exit 3; exec 3<>file; "
                + "echo two >&3; test \"$(stat -c %s file)\" = 4 || exit 4; echo three >> file"
            let result = agent.run(
                "unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", ByteString(script))
            #expect(result.status == 0, "\(result)")
            #expect(reader.content("file") == "two\nthree\n")
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `one version after another with a reader at each step`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let (writer, reader) = (try volume.agent(), try volume.agent())
            var held: [(Descriptor, ByteString)] = []
            for version in 0..<50 {
                let content = ByteString(repeating: "v", count: version * 100 + 1)
                writer.store("file", content)
                held.append((reader.open("file", O_RDONLY), content))
            }
            writer.unlink("file")
            for (handle, content) in held {
                #expect(reader.read(handle, offset: 0) == content)
                #expect(reader.status(handle).size == content.count)
                reader.close(handle)
            }
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `sixty writing processes at once leave one whole file`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "")
            let script = """
                for i in $(seq 60); do
                    (exec 3>>file; echo "line $i part 1" >&3; echo "line $i part 2" >&3) &
                done; wait
                """
            let result = agent.run("sh", "-c", ByteString(script))
            #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
            let lines = agent.content("file").text.split(separator: "\n")
            #expect(lines.count == 120)
            #expect(Set(lines).count == 120)
        }
    }

    /// One of them has it open by the version's node: the kernel does not learn how long the file is.
    @Test(arguments: DataPath.mountsOfAllUsers, [0, 100_000])
    func `writers that append by a path and by an open file add to each other`(
        _ dataPath: DataPath, _ size: Int
    ) throws {
        try withVolume(dataPath) { volume in
            let (first, second) = (try volume.agent(), try volume.agent())
            var expected = ByteString(repeating: "x", count: size)
            first.store("file", expected)
            let reading = first.open("file", O_RDONLY)
            let apart = first.open("/proc/self/fd/\(reading.number)", O_WRONLY)
            let other = second.open("file", O_RDWR | O_APPEND)
            // Whether a descriptor appends is as it was set last.
            first.setFlags(apart, O_WRONLY | O_APPEND)
            for number in 0..<10 {
                let lines: [ByteString] = ["apart \(number)\n", "other \(number)\n"]
                first.write(apart, lines[0])
                second.write(other, lines[1])
                expected = expected + lines[0] + lines[1]
            }
            // Through /proc the kernel does not learn either how long it is.
            first.truncate("/proc/self/fd/\(reading.number)", size: 3)
            second.write(other, "end")
            expected = ByteString(Array(expected.bytes.prefix(3))) + "end"
            for (agent, file) in [(first, apart), (second, other)] { agent.close(file) }
            #expect(second.content("file") == expected)
            #expect(second.status("file").size == expected.count)
        }
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `what programs closed at the same moment is there when they have`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let probe = try BuiltPrograms.probe()
            let result = try volume.agent().run(ByteString(probe), "common-close", "file", "300")
            #expect(result.status == 0, "\(result)")
        }
    }

    /// The kernel puts the listing into its cache after the file was written.
    @Test(
        .enabled(if: canServePageFaults, "userfaultfd is not allowed"),
        arguments: DataPath.mounts)
    func `a listing that its program takes late does not lead to the version before`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (agent, reader) = (try volume.agent(), try volume.agent())
            let probe = ByteString(try BuiltPrograms.probe())
            agent.store("file", "old")
            let result = agent.run(probe, "late-listing", ".", "file", "new content")
            #expect(result.status == 0, "\(result)")
            #expect(reader.content("file") == "new content")
            #expect(reader.status("file").size == 11)
        }
    }

    private static var canServePageFaults: Bool {
        let descriptor = kernel_call(Int(SYS_userfaultfd), Int(O_CLOEXEC), 0, 0, 0, 0, 0)
        if descriptor >= 0 { close(Int32(descriptor)) }
        return descriptor >= 0
    }

    @Test(arguments: DataPath.mountsOfAllUsers)
    func `status tells which data path is used`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let status = try #require(try volume.container?.status())
            #expect(status.container == volume.container?.name)
            // Root may have passthrough where the kernel has it; nobody else ever.
            if dataPath != .passthrough { #expect(status.passthrough == false) }
        }
    }
}

extension Agent {
    /// name_to_handle_at(2): the bytes of struct file_handle.
    fileprivate func handle(
        _ path: ByteString, at location: SourceLocation = #_sourceLocation
    ) -> [UInt8] {
        // struct file_handle: room (4), type (4), then the handle itself.
        let room =
            withUnsafeBytes(of: UInt32(128)) { Array($0) } + [UInt8](repeating: 0, count: 132)
        let reply = call(
            "name_to_handle_at \(path)", SYS_name_to_handle_at,
            [.integer(Int(AT_FDCWD)), .input(path.bytes), .both(room), .output(4), .integer(0)],
            fails: [], at: location)
        return reply.buffers.first ?? []
    }

    /// open_by_handle_at(2).
    fileprivate func open(
        handle: [UInt8], mount: Descriptor, _ flags: Int32,
        at location: SourceLocation = #_sourceLocation
    ) -> Descriptor {
        Descriptor(
            call(
                "open_by_handle_at", SYS_open_by_handle_at,
                [.integer(mount.number), .both(handle), .integer(Int(flags))], fails: [],
                at: location
            ).result)
    }
}
