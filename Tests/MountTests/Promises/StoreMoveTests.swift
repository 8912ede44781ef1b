import Glibc
import Probing
import TestSupport
import Testing

/// `container move-store`: a container changes its store whole or not at all, also where one is not there.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct StoreMoveTests {
    @Test func `a store that is not reached costs move-store one message`() throws {
        let container = try Container()
        defer { container.remove() }
        // Nobody listens there.
        let result = try container.command(
            "container", "move-store", container.name, "dav://127.0.0.1:1/store")
        #expect(result.status == Int(EX_UNAVAILABLE), "\(result)")
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("shapeedit: "), "\(result)")
    }

    @Test func `a store's address is kept in the form in which addresses are compared`() throws {
        try withFrozenServer { volume, _ in
            let container = try #require(volume.container)
            func store(_ name: String) throws -> String {
                let told = try container.command("container", "info", name).text
                let line = told.split(separator: "\n").first { $0.hasPrefix("its store: ") }
                return String(try #require(line).dropFirst(11))
            }
            let address = try store(container.name)
            func other(_ name: String, _ scheme: String) -> String {
                address.replacing("dav://", with: scheme).replacing("/store?", with: "/\(name)?")
            }
            for command in [
                ["create", "second", "--store", other("second", "DAV://")], ["create", "third"],
                ["move-store", "third", other("third", "Dav://")],
            ] {
                let done = try container.command(["container"] + command)
                #expect(done.status == 0, "\(done)")
            }
            for name in ["second", "third"] {
                try #expect(store(name) == other(name, "dav://"))
            }
        }
    }

    /// A daemon would look for them in another folder than whoever wrote the address.
    @Test(arguments: [
        "davs://127.0.0.1:1/x?ca=ca.pem", "davs://127.0.0.1:1/x?netrc=./logins",
        "s3://bucket/x?credentials=keys", "davs://127.0.0.1:1/x?credential-command=bin/login%20me",
    ])
    func `an address that names a file otherwise than from the root on is refused`(
        _ address: String
    ) throws {
        let container = try Container()
        defer { container.remove() }
        for command in [
            ["container", "create", "other", "--store", address],
            ["container", "move-store", container.name, address],
            ["import", "--promise", address, container.base],
        ] {
            let result = try container.command(command)
            #expect(result.status == Int(EX_USAGE), "\(result)")
            #expect(result.errorText.contains("must begin with /"), "\(result)")
        }
    }

    @Test func `a container changes its store, and does without one again`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.shell(
                "head -c 100000 /dev/urandom > a; head -c 9000000 /dev/urandom > b; sha256sum a b > sums"
            )
            try volume.evictAll()
            agent.end()
            try container.unmount()
            func move(to address: String, fails status: Int32 = 0) throws -> ProgramResult {
                let result = try container.command(
                    "container", "move-store", container.name, address)
                #expect(result.status == Int(status), "\(result)")
                return result
            }
            // What is not there cannot go over, and nothing changes.
            rename(container.storeFolder, container.storeFolder + ".away")
            let other = "\(container.base)/home/other"
            _ = try move(to: "folder:\(other)", fails: EX_UNAVAILABLE)
            rename(container.storeFolder + ".away", container.storeFolder)
            _ = try move(to: "folder:\(other)")
            TemporaryDirectory.remove(container.storeFolder)
            let info = try container.command("container", "info", container.name)
            #expect(info.text.contains(other))
            try container.mount()
            let sound = try volume.run("sha256sum", "--quiet", "-c", "sums")
            #expect(sound.status == 0, "\(sound)")
            try volume.shapeedit("evict", "@a", "@b")
            try container.unmount()
            _ = try move(to: "none")
            TemporaryDirectory.remove(other)
            try container.mount()
            let local = try volume.run("sha256sum", "--quiet", "-c", "sums")
            #expect(local.status == 0, "\(local)")
            #expect(try volume.state("b") == "local")
        }
    }

    @Test func `a store that is not there is not made when its container is moved to it`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("doc.txt", "content")
            try volume.evictAll()
            agent.end()
            try container.unmount()
            // Its disk is not mounted.
            let store = container.storeFolder
            rename(store, store + ".away")
            let parts = store.split(separator: "/")
            let (parent, name) = (parts.dropLast().joined(separator: "/"), parts[parts.count - 1])
            let link = store + ".link"
            symlink("/" + parent, link)
            symlink(String(name), store + ".way")
            for (path, hasMountPoint) in [
                (store + "/", false), ("/\(parent)/none/.././\(name)", true),
                ("\(link)//.//\(name).way", false),
            ] {
                if hasMountPoint { mkdir(store, 0o700) }
                let moved = try container.command(
                    "container", "move-store", container.name, "folder:\(path)")
                #expect(moved.status == Int(EX_UNAVAILABLE), "\(path): \(moved)")
                #expect(moved.errorText.contains("is its disk mounted?"), "\(path): \(moved)")
                // Empty, if it is there.
                #expect(hasMountPoint ? rmdir(store) == 0 : access(store, F_OK) != 0, "\(path)")
            }
            rename(container.storeFolder + ".away", container.storeFolder)
            let again = try container.command(
                "container", "move-store", container.name, "folder:\(container.storeFolder)")
            #expect(again.status == 0, "\(again)")
            try container.mount()
            let read = try volume.run("cat", "doc.txt")
            #expect(read.text == "content", "\(read)")
        }
    }

    @Test func `a container whose store is gone goes to another with what is here`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let agent = try volume.agent()
            agent.store("doc.txt", "content")
            try volume.settle()
            agent.end()
            try container.unmount()
            TemporaryDirectory.remove(container.storeFolder)
            let moved = try container.command(
                "container", "move-store", container.name, "folder:\(container.base)/home/other")
            #expect(moved.status == 0, "\(moved)")
            try container.mount()
            try volume.shapeedit("evict", "@doc.txt")
            let read = try volume.run("cat", "doc.txt")
            #expect(read.text == "content", "\(read)")
        }
    }
}
