import CKernel
import Glibc
import TestSupport
import Testing

/// What an app cannot reach of an owner that has granted it one document.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct GrantedReachTests {
    private static let document: ByteString = "in test/a.txt"

    @Test(arguments: DataPath.mounts.prefix(1))
    func `nothing else of the owner can be reached`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            here.makeDirectory("d")
            here.store("d/hidden.txt", "hidden words")
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let secret = here.attribute("secret.txt", "user.shapeedit.id")
            #expect(there.content(Self.document) == "one")
            // By name, and by way of the folder.
            for name in ["secret.txt", "work", ".shapeedit", "d", "hidden.txt", "..a", "A.TXT"] {
                there.status("in test/\(name)", fails: ENOENT)
            }
            there.status("in test/a.txt/x", fails: ENOTDIR)
            #expect(there.status("in test/..").inode == there.status(".").inode)
            for name in ["in nothing", "in notes", "in ..", "in test (2)", "in .", "in "] {
                there.status(ByteString(name), fails: ENOENT)
            }
            // By what the app's mount tells of itself.
            there.status(".shapeedit/granted/test", fails: ENOENT)
            there.status(".shapeedit/granted/notes/notes/\(secret)", fails: EACCES)
            there.status(".shapeedit/documents/\(secret)", fails: ENOENT)
            let own = there.attribute(Self.document, "user.shapeedit.id")
            there.status(".shapeedit/documents/\(own)", fails: ENOENT)
            there.status(".shapeedit/versions/in test", fails: ENOENT)
            #expect(there.names(".shapeedit/thumbnails/128/in test") == ["a.txt.png"])
            there.status(".shapeedit/thumbnails/128/in test/secret.txt.png", fails: ENOENT)
            #expect(there.names(".shapeedit/recents") == [])
            #expect(there.content(".shapeedit/grants") == "")
            let found = try both.app.command("find", both.app.mountPoint, "--hidden", "--json")
            #expect(!found.text.contains("secret") && !found.text.contains("hidden"))
            #expect(
                there.shell("find . -path ./.shapeedit -prune -o -print | sort")
                    == ".\n./in test\n./in test/a.txt\n")
            // At the owner's, by the app's name: only what is granted, and only to its user.
            let granted = both.owner.root + "/.shapeedit/granted"
            here.status(granted + "/test/notes/\(own)")
            here.status(granted + "/test/notes/\(secret)", fails: EACCES)
            here.status(granted + "/test/mail/\(own)", fails: EACCES)
            here.status(granted + "/other/notes/\(own)", fails: ENOENT)
            // Its numbers are no numbers of the owner's.
            #expect(there.status(Self.document).inode != here.status("a.txt").inode)
        }
    }

    @Test func `names that no container has cost the daemon nothing`() throws {
        try withOwnerAndApp(.passthrough) { both in
            try both.run("grant", "a.txt", "--to", "notes")
            let there = try both.appAgent()
            #expect(there.content(Self.document) == "one")
            let daemon = try #require(both.app.daemon)
            let threads = { there.names(ByteString("/proc/\(daemon)/task")).count }
            let before = threads()
            for number in 0..<100 {
                there.status(ByteString("in owner\(number)"), fails: ENOENT)
                let find = ByteString(".shapeedit/find/folder=in%20mail\(number)")
                there.open(find, O_RDONLY, fails: ENOENT)
            }
            #expect(threads() < before + 20)
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs open_by_handle_at"),
        arguments: DataPath.mounts.prefix(1))
    func `nothing can be reached by guessed file handles`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            let (here, there) = (try both.owner.agent(), try both.appAgent())
            try both.run("grant", "a.txt", "--to", "notes", "--write")
            let file = there.open(Self.document, O_RDONLY)
            let known = UInt64(bitPattern: Int64(there.status(Self.document).inode))
            let folder = there.open(".", O_RDONLY | O_DIRECTORY)
            // Of the owner's numbers, of those around the one that is known, and of all bits.
            var guesses: [UInt64] = [UInt64(here.status("secret.txt").inode)]
            for number in UInt64(1)..<64 {
                guesses += [number, 3 << 62 | number, 1 << 63 | number, 1 << number]
                guesses.append(known &+ number)
            }
            for guess in guesses where guess != known && guess != 1 {
                guard let found = there.openByHandle(folder, node: guess) else { continue }
                // Nodes of the app's own are all that there is.
                if there.status(found).mode & Int(S_IFMT) == Int(S_IFREG) {
                    #expect(!there.readToEnd(found).text.contains("business"), "\(guess)")
                }
                there.close(found)
            }
            // The one that is known is as good as its name, and as little good when it is revoked.
            let same = try #require(there.openByHandle(folder, node: known))
            #expect(there.readToEnd(same) == "one")
            try both.run("revoke", "a.txt")
            #expect(there.openByHandle(folder, node: known) == nil)
            there.read(same, count: 1, fails: EACCES)
            there.close(same)
            there.close(file)
        }
    }

    @Test(
        .enabled(if: DataPath.isPrivileged, "needs open_by_handle_at"),
        arguments: DataPath.mounts.prefix(1))
    func `a file handle leads to nothing else in a later mount`(_ place: DataPath) throws {
        try withOwnerAndApp(place) { both in
            for document in ["a.txt", "secret.txt"] {
                try both.run("grant", document, "--to", "notes")
            }
            let there = try both.appAgent()
            let known = UInt64(bitPattern: Int64(there.status(Self.document).inode))
            both.endAppAgents()
            try both.app.unmount()
            try both.mountApp()
            let later = try both.appAgent()
            #expect(later.content("in test/secret.txt") == "nobody's business")
            let folder = later.open(".", O_RDONLY | O_DIRECTORY)
            #expect(later.openByHandle(folder, node: known) == nil)
            later.close(folder)
        }
    }
}

extension Agent {
    /// open_by_handle_at(2) with the handle that FUSE would make for a node; `nil` if there is none.
    fileprivate func openByHandle(_ mount: Descriptor, node: UInt64) -> Descriptor? {
        // struct file_handle: length, type (FILEID_INO64_GEN), the node's upper and lower half, generation.
        let words: [UInt32] = [
            12, 0x81, UInt32(node >> 32), UInt32(truncatingIfNeeded: node), 0,
        ]
        let handle = words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
        let reply = ask(
            "open_by_handle_at",
            .call(
                number: Int(SYS_open_by_handle_at),
                arguments: [
                    .integer(mount.number), .both(handle), .integer(Int(O_RDONLY | O_NONBLOCK)),
                ], onNewThread: false))
        return reply.result < 0 ? nil : Descriptor(reply.result)
    }
}
