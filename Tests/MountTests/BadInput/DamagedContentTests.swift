import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct DamagedContentTests {
    private static let damages = ["missing", "flipped", "shortened", "longer"]

    @Test func `check has a line for each finding, whatever the document is called`() throws {
        try withBrokenContainer { broken in
            let name = ByteString(Array("x\nrepaired: y".utf8) + [0xff])
            try broken.whileMounted { $0.store(name, "content of that name") }
            try broken.damage("rm \(try broken.blob(of: "content of that name"))")
            let check = try broken.container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            let findings = check.text.split(separator: "\n").dropLast()
            #expect(!findings.isEmpty, "\(check)")
            for finding in findings {
                #expect(finding.hasPrefix(#"damaged: x\nrepaired: y\xff"#), "\(check)")
            }
        }
    }

    @Test(arguments: damages)
    func `check names the document whose content is damaged, and the others stay readable`(
        _ damage: String
    ) throws {
        // Each of the damages on one of the data paths.
        let number = Self.damages.firstIndex(of: damage) ?? 0
        let dataPath = DataPath.mounts[number % DataPath.mounts.count]
        let options = dataPath == .noPassthrough ? ["no_passthrough"] : []
        try withBrokenContainer(others: 20) { broken in
            let container = broken.container
            let blob = try broken.blob(of: "b's only content")
            switch damage {
            case "missing": try broken.damage("rm \(blob)")
            case "flipped":
                try broken.damage("printf X | dd of=\(blob) bs=1 seek=3 conv=notrunc status=none")
            case "shortened": try broken.damage("truncate -s 5 \(blob)")
            default: try broken.damage("printf more >> \(blob)")
            }
            let before = try broken.listing()
            for _ in 1...2 {
                let check = try container.check()
                #expect(check.status == Int(EX_DATAERR), "\(check)")
                #expect((check.text + check.errorText).contains("folder/b"), "\(check)")
                #expect(!(check.text + check.errorText).contains("f20"), "\(check)")
            }
            let json = try container.command("container", "check", "test", "--json")
            #expect(json.text.contains("folder/b") && json.text.contains("\"sound\": false"))
            #expect(try broken.listing() == before, "check changed the folder")
            // The rest works, and a new version heals the document.
            try container.mount(options: options)
            let process = try #require(try container.status().pid)
            let agent = try Agent(in: container.mountPoint)
            defer { agent.end() }
            #expect(agent.content("a") == "a's only content")
            #expect(agent.content("f20").count == 2820)
            // Of one that is as long as it was only a check can tell.
            if damage != "flipped" {
                // It is listed, so it is there; what fails is reading it.
                #expect(agent.status("folder/b").size == 16)
                let file = agent.open("folder/b", O_RDONLY)
                _ = agent.read(file, count: 16, fails: EIO)
                agent.close(file)
                agent.open("folder/b", O_RDWR, fails: EIO)
            }
            agent.store("folder/b", "a new content")
            #expect(agent.content("folder/b") == "a new content")
            #expect(Container.isAlive(process), "the daemon died")
            agent.end()
            try container.unmount()
            try container.mount(options: options)
            let after = try Agent(in: container.mountPoint)
            #expect(after.content("folder/b") == "a new content")
            after.end()
            try container.unmount()
        }
    }

    @Test(arguments: damages.filter { $0 != "flipped" })
    func `why a damaged content cannot be read is said, and what to do`(_ damage: String) throws {
        try withBrokenContainer { broken in
            let blob = try broken.blob(of: "b's only content")
            try broken.damage(
                ["missing": "rm \(blob)", "shortened": "truncate -s 5 \(blob)"][damage]
                    ?? "printf more >> \(blob)")
            func reason(_ name: String) throws -> ProgramResult {
                try run(
                    ["getfattr", "--only-values", "-n", "user.shapeedit.error", name],
                    directory: broken.container.mountPoint)
            }
            try broken.whileMounted { agent in
                agent.open("folder/b", O_RDWR, fails: EIO)
                let said = try reason("folder/b")
                #expect(said.text.contains("shapeedit container check test"), "\(said)")
                #expect(try reason("a").status != 0)
                agent.store("folder/b", "a new content")
                #expect(try reason("folder/b").status != 0)
            }
        }
    }

    /// It was read to its end, for minutes.
    @Test(.timeLimit(.minutes(1)))
    func `check tells at once of a content that was made very long`() throws {
        try withBrokenContainer { broken in
            let blob = try broken.blob(of: "b's only content")
            // As long as a content may be. Its first bytes are what was saved.
            try broken.damage("truncate -s 1T \(blob)")
            let check = try broken.container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            let length = "its content has 1099511627776 bytes, not 16"
            #expect(check.text.contains("folder/b, version 1: \(length)"), "\(check)")
            try broken.damage("truncate -s 16 \(blob)")
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test(arguments: [
        "printf X | dd of=BLOB bs=1 seek=3 conv=notrunc status=none", "truncate -s 5 BLOB",
    ])
    func `the same content saved once more heals what was damaged`(damage: String) throws {
        try withBrokenContainer(others: 20) { broken in
            let blob = try broken.blob(of: "b's only content")
            try broken.damage(damage.replacing("BLOB", with: blob))
            #expect(try broken.container.check().status == Int(EX_DATAERR))
            for _ in 1...2 {
                try broken.whileMounted { agent in
                    agent.store("folder/b", "b's only content")
                    #expect(agent.content("folder/b") == "b's only content")
                }
            }
            try broken.whileMounted { agent in
                #expect(agent.content("folder/b") == "b's only content")
            }
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test func `what is left of a damaged content stays when the document goes back`() throws {
        try withBrokenContainer(others: 20) { broken in
            let container = broken.container
            try broken.whileMounted { agent in
                // Saves within two seconds count as one.
                agent.shell("sleep 2.5")
                agent.store("a", "a's second content")
            }
            let blob = try broken.blob(of: "a's second content")
            try broken.damage("printf ' and more' >> \(blob)")
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            #expect(check.text.contains("a went back to its last whole version; "), "\(check)")
            #expect(check.text.contains("/lost/"), "\(check)")
            #expect(try container.check().status == 0)
            try broken.whileMounted { agent in #expect(agent.content("a") == "a's only content") }
            let left = try run(["sh", "-c", "cat lost/*"], directory: broken.folder)
            #expect(left.text == "a's second content and more")
        }
    }

    @Test func `foreign files are reported and left alone`() throws {
        try withBrokenContainer(others: 20) { broken in
            let container = broken.container
            try broken.damage(
                """
                echo foreign > notes.txt; mkdir stray; echo x > stray/x; echo y > staging/mine
                echo z > blobs/README; echo j > journal/mine; echo s > spare/mine
                ln -s /etc/passwd staging/link; mkfifo stray/fifo
                shelf=$(ls -d blobs/?? | head -n 1); echo b > $shelf/mine; mkdir $shelf/folder
                """)
            let foreign = [
                "notes.txt", "stray", "staging/mine", "staging/link", "blobs/README",
                "journal/mine", "spare/mine", "/mine", "/folder",
            ]
            let before = try broken.listing()
            let check = try container.check()
            for name in foreign { #expect(check.text.contains(name), "\(name): \(check)") }
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            #expect(check.text.split(separator: "\n").count == 10, "\(check)")
            #expect(try broken.listing() == before, "check changed the folder")
            try broken.whileMounted { agent in
                for number in 1...50 { agent.store("n\(number)", "new") }
                #expect(agent.content("a") == "a's only content")
            }
            let after = try run(
                [
                    "sh", "-c",
                    "cat notes.txt stray/x staging/mine blobs/README journal/mine spare/mine blobs/??/mine",
                ],
                directory: broken.folder)
            #expect(after.text == "foreign\nx\ny\nz\nj\ns\nb\n", "\(after)")
            #expect(try run(["readlink", "\(broken.folder)/staging/link"]).text == "/etc/passwd\n")
        }
    }

    @Test func `contents that are missing after a crash are counted by the mount`() throws {
        try withBrokenContainer(others: 20) { broken in
            try broken.crash { agent in
                for number in 1...40 { agent.store("new\(number)", "acknowledged") }
            }
            try broken.damage("rm packs/*")
            let container = broken.container
            let mount = try container.command("mount", "test", container.mountPoint)
            let reading = try run(["sh", "-c", "cat '\(container.mountPoint)'/new*"])
            let gone = reading.errorText.split(separator: "\n").count
            #expect(gone > 20, "\(reading)")
            // Those of which only the beginning of a session was recorded are empty, and counted too.
            let said = (gone...40).contains { count in
                mount.errorText.contains("what was saved last of \(count) documents is missing")
            }
            #expect(said, "\(gone) are gone: \(mount)")
            try container.unmount()
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
        }
    }
}
