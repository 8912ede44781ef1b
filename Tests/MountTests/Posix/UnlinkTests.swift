import CKernel
import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct UnlinkTests {
    @Test(arguments: DataPath.posixOfAllUsers)
    func `unlink removes a name of any kind and fails without one`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for kind in FileKind.possible(for: agent) where kind != .directory {
                kind.make("x", by: agent)
                agent.unlink("x")
                agent.status("x", following: false, fails: ENOENT)
                agent.unlink("x", fails: ENOENT)
            }
            agent.store("file", "x")
            agent.symlink(to: "file", "link")
            agent.unlink("link")
            #expect(agent.content("file") == "x")
            agent.unlink("missing/x", fails: ENOENT)
            agent.unlink("file/x", fails: ENOTDIR)
            agent.unlink("", fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `an unlinked file can be read and written while it is open`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let reader = try volume.agent()
            agent.store("file", "content")
            let file = agent.open("file", O_RDWR)
            let reading = reader.open("file", O_RDONLY)
            agent.unlink("file")
            #expect(agent.status(file).links == 0 && reader.status(reading).links == 0)
            #expect(reader.read(reading) == "content")
            agent.write(file, "CON", offset: 0)
            agent.write(file, ByteString(repeating: "z", count: 100_000), offset: 7)
            #expect(agent.read(file, count: 10, offset: 0) == "CONtentzzz")
            #expect(agent.status(file).size == 100_007)
            agent.truncate(file, size: 3)
            agent.changeMode(file, 0o600)
            agent.synchronize(file)
            #expect(agent.status(file).permissions == 0o600)
            #expect(agent.read(file, offset: 0) == "CON")
            agent.open("file", O_RDONLY, fails: ENOENT)
            // The name is free at once.
            agent.store("file", "another")
            #expect(agent.content("file") == "another")
            agent.close(file)
            reader.close(reading)
            #expect(reader.content("file") == "another")
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `a new file that is unlinked before it was closed leaves nothing`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let file = agent.open("temp", O_CREAT | O_EXCL | O_RDWR)
            agent.unlink("temp")
            agent.write(file, "scratch data")
            #expect(agent.read(file, offset: 8) == "data")
            let mapping = agent.map(file, length: 4096, writable: true, shared: true)
            agent.setMemory(mapping, "SCRATCH")
            #expect(agent.read(file, count: 7, offset: 0) == "SCRATCH")
            agent.unmap(mapping)
            agent.close(file)
            #expect(agent.names(".") == [])
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `fifos carry data between processes`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.makeNode("fifo", mode: FileKind.fifo.modeBits | 0o600)
            agent.open("fifo", O_WRONLY | O_NONBLOCK, fails: ENXIO)
            let reading = agent.open("fifo", O_RDONLY | O_NONBLOCK)
            let other = try volume.agent()
            let writing = other.open("fifo", O_WRONLY)
            other.write(writing, "through the pipe")
            #expect(agent.read(reading) == "through the pipe")
            agent.seek(reading, 0, fails: ESPIPE)
            #expect(agent.status(reading).kind == FileKind.fifo.modeBits)
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "only root may have devices"), arguments: DataPath.posix
    )
    func `device nodes keep their numbers`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            for (kind, device) in [
                (FileKind.characterDevice, 0x103), (.blockDevice, 0x700), (.characterDevice, 0xff),
                (.blockDevice, 0x1234_5678),
            ] {
                agent.makeNode("node", mode: kind.modeBits | 0o640, device: device)
                let status = agent.status("node")
                #expect(status.kind == kind.modeBits && status.deviceNumber == device)
                #expect(status.permissions == 0o640 && status.size == 0)
                agent.unlink("node")
            }
            agent.makeNode("file", mode: FileKind.file.modeBits | 0o600)
            #expect(agent.status("file").isFile && agent.status("file").size == 0)
            agent.makeNode("file", mode: FileKind.fifo.modeBits | 0o600, fails: EEXIST)
            agent.makeNode("dir", mode: FileKind.directory.modeBits | 0o700, fails: EPERM, EINVAL)
            agent.makeNode("missing/x", mode: FileKind.fifo.modeBits | 0o600, fails: ENOENT)
        }
    }

    @Test(arguments: DataPath.posixOfAllUsers)
    func `sockets accept connections`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let result = agent.run(
                "python3", "-c",
                """
                import socket, os, stat
                a = socket.socket(socket.AF_UNIX); a.bind("s"); a.listen(1)
                b = socket.socket(socket.AF_UNIX); b.connect("s"); b.sendall(b"hello")
                c, _ = a.accept(); print(c.recv(9).decode(), stat.S_ISSOCK(os.stat("s").st_mode))
                """)
            #expect(result.text == "hello True\n")
        }
    }
}
