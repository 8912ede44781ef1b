import Glibc
import Probing
import TestSupport
import Testing

/// Pins hold for what comes to where they are, and until they are fulfilled.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct PinTests {
    private func wait(_ volume: Volume, _ name: String, _ state: String) throws {
        for _ in 0..<600 {
            if try volume.state(name) == state { return }
            usleep(50_000)
        }
        Issue.record("\(name) is not \(state) within 30 s: \(try volume.state(name))")
    }

    @Test func `the pin of a folder holds for what is moved into it`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("mkdir keep online d; echo a > a; echo b > b; echo c > c; echo d > d/d")
            try volume.evictAll()
            agent.shell("cat b > ../read")
            try volume.shapeedit("pin", "@keep")
            try volume.shapeedit("pin", "--online-only", "@online")
            agent.shell("mv a d keep; mv b online")
            try wait(volume, "keep/a", "local")
            try wait(volume, "keep/d/d", "local")
            try wait(volume, "online/b", "promise")
            #expect(try volume.state("c") == "promise")
        }
    }

    @Test func `contents of a folder do not come or go by its state, nor has a FIFO a pin`() throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("mkdir d; echo a > d/a; mkfifo pipe")
            try volume.evictAll()
            for state in ["local", "promise", "cancel"] {
                let set = try volume.run("setfattr", "-n", "user.shapeedit.state", "-v", state, "d")
                #expect(set.status == 1 && set.errorText.contains("Is a directory"), "\(set)")
            }
            #expect(try volume.state("d/a") == "promise")
            let pinned = try volume.shapeedit("pin", "@pipe", "@d", fails: EX_NOINPUT)
            #expect(pinned.errorText.contains("/pipe: it is neither a document"), "\(pinned)")
            try wait(volume, "d/a", "local")
        }
    }

    @Test func `what is below a file, or has no name, is told as what is not there`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let source = "\(try #require(volume.container).base)/source"
            try volume.agent().shell("echo a > doc; mkdir \(source); echo b > \(source)/b")
            try volume.shapeedit("import", "--promise", source, "@in")
            for words in ["evict", "materialize", "cancel", "pin", "unpin"] {
                for path in ["@doc/below", ""] {
                    let told = try volume.shapeedit(words, path, fails: EX_NOINPUT)
                    #expect(!told.errorText.contains("shapeedit: :"), "\(words): \(told)")
                }
            }
            try volume.shapeedit("import", "--refresh", "@in/b", fails: EX_NOINPUT)
            let made = try volume.outcome("import", "--promise", "/", "")
            #expect(made.errorText.contains("shapeedit: '': "), "\(made)")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `who may not read a document is told that it is another's, not that it is none`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("echo a > secret; mkdir closed; chmod go= secret closed; echo b > open")
            try volume.evictAll()
            for words in [["evict"], ["materialize"], ["cancel"], ["pin"], ["unpin"]] {
                for name in ["secret", "closed"] {
                    let told = try run(
                        ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"]
                            + [try BuiltPrograms.shapeedit()] + words
                            + ["\(volume.root.text)/work/\(name)"])
                    #expect(told.status == Int(EX_NOPERM), "\(words) \(told)")
                    #expect(
                        told.errorText.hasSuffix(
                            "/\(name): only its owner may do that, and has to be allowed to read it\n"
                        ),
                        "\(words) \(told)")
                }
            }
            #expect(try volume.state("secret") == "promise")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged && isInstalled("setpriv"), "needs root and setpriv"))
    func `an owner who may not read a document is not told that only its owner may do that`() throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            try volume.agent().shell("echo a > own; chown \(nobody) own; chmod 0 own")
            try volume.evictAll()
            for command in ["evict", "materialize", "cancel", "pin"] {
                let told = try run([
                    "setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                    try BuiltPrograms.shapeedit(), command, "\(volume.root.text)/work/own",
                ])
                #expect(told.status == Int(EX_NOPERM), "\(told)")
                #expect(told.errorText.contains("has to be allowed to read it"), "\(told)")
            }
        }
    }

    /// As where credentials have run out for a while.
    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `what is to stay here comes when the store allows it again`() throws {
        let server = try FaultyServer(.webDAV, name: "forbidden")
        defer { server.stop() }
        try server.request("MKCOL", "/")
        try withVolume(.passthrough, store: server.address) { volume in
            try volume.agent().shell("echo a > a")
            try volume.evictAll()
            try server.plan("GET status=403")
            try volume.shapeedit("pin", "@a")
            try waitUntil {
                try volume.run("getfattr", "-n", "user.shapeedit.error", "a").status == 0
            }
            try server.plan()
            try wait(volume, "a", "local")
        }
    }

    @Test func `the pin of a folder holds for what an import shows in it`() throws {
        try withVolume(.passthrough) { volume in
            let source = "\(try #require(volume.container).base)/source"
            let made = try Probing.run([
                "sh", "-c", "mkdir '\(source)'; echo one > '\(source)/one'",
            ])
            try #require(made.status == 0, "\(made)")
            try volume.agent().makeDirectory("keep")
            try volume.shapeedit("import", "--promise", source, "@keep/in")
            try volume.shapeedit("pin", "@keep")
            try wait(volume, "keep/in/one", "local")
            _ = try Probing.run(["sh", "-c", "echo two > '\(source)/two'"])
            try volume.shapeedit("import", "--refresh", "@keep/in")
            try wait(volume, "keep/in/two", "local")
        }
    }

    @Test func `what is pinned while a quota lets others go is here`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            let script = """
                import os, sys, threading, time
                count = 2000
                def state(number): return os.getxattr(str(number), "user.shapeedit.state")
                def pin(first):
                    for number in range(first, count, 8):
                        os.setxattr(str(number), "user.shapeedit.pin", b"keep")
                        time.sleep(0.005)
                def wait():
                    end = time.monotonic() + 60
                    left = range(count)
                    while left and time.monotonic() < end:
                        time.sleep(0.2)
                        left = [number for number in left if state(number) != b"local"]
                    assert not left, [(number, state(number)) for number in left]
                if sys.argv[1] == "make":
                    for number in range(count):
                        with open(str(number), "wb") as file: file.write(os.urandom(3000))
                    wait()
                elif sys.argv[1] == "unpin":
                    for number in range(count): os.setxattr(str(number), "user.shapeedit.pin", b"default")
                    for number in range(count): os.setxattr(str(number), "user.shapeedit.state", b"local")
                    wait()
                else:
                    threads = [threading.Thread(target=pin, args=(first,)) for first in range(8)]
                    for thread in threads: thread.start()
                    for thread in threads: thread.join()
                    wait()
                """
            func perform(_ step: String) throws {
                let result = try volume.run("python3", "-c", script, step)
                #expect(result.status == 0, "\(step): \(result)")
            }
            try perform("make")
            for _ in 0..<2 {
                try container.unmount()
                // All may go, from the first look on.
                try container.mount(options: ["allow_other", "quota=1k"])
                try perform("pin")
                try volume.remount()
                try perform("unpin")
            }
        }
    }

    @Test(arguments: [false, true])
    func `what is to stay here comes when the store is back`(_ inNextMount: Bool) throws {
        try withVolume(.passthrough, store: "folder", options: ["store_timeout=1"]) { volume in
            let container = try #require(volume.container)
            let store = container.storeFolder
            let agent = try volume.agent()
            agent.shell("mkdir d; for i in 1 2 3 4; do echo $i > d/$i; done")
            try volume.evictAll()
            #expect(rename(store, store + ".away") == 0)
            try volume.shapeedit("pin", "@d")
            for _ in 0..<600 {
                let told = try volume.run("getfattr", "-n", "user.shapeedit.error", "d/1")
                if told.status == 0 { break }
                usleep(50_000)
            }
            if inNextMount {
                volume.endAgents()
                try container.killDaemon()
            }
            #expect(rename(store + ".away", store) == 0)
            if inNextMount { try volume.remountAfterCrash() }
            for name in 1...4 { try wait(volume, "d/\(name)", "local") }
        }
    }
}
