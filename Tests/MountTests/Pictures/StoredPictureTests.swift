import Glibc
import Probing
import TestSupport
import Testing

/// Pictures of promises, from the store.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct StoredPictureTests {
    /// A desk with three slides whose contents and pictures are in the store and not here.
    ///
    /// - Parameter source: functions that the mount uses in place of those of its libraries.
    private func withPromises(
        preloading source: String? = nil, _ body: (PictureDesk, Agent) throws -> Void
    ) throws {
        try withPictures(patience: 45_000, store: "folder") { desk in
            for number in 0..<3 {
                desk.agent.store(ByteString("\(number).slide"), PictureDesk.slide(number))
            }
            for field in ["notYetDurable", "uploads", "pictureUploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            for number in 0..<3 {
                let path = "\(desk.container.mountPoint)/\(number).slide"
                #expect(
                    try waitUntil { try desk.container.command("evict", path).status == 0 })
            }
            #expect(waitUntil { desk.count("pictureUploads") == 0 })
            desk.agent.end()
            try desk.container.unmount()
            _ = try run(["rm", "-rf", desk.container.folder + "/pictures"])
            if let source { try desk.container.preload(source) }
            try desk.mount()
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            try body(desk, agent)
        }
    }

    private func state(_ agent: Agent, _ name: ByteString) -> ByteString {
        agent.attribute(name, "user.shapeedit.thumbnail.state")
    }

    /// Whether file managers find a picture of what a path leads to.
    private func isSeen(_ desk: PictureDesk, _ path: String) throws -> Bool {
        let found = try run(
            ["gio", "info", "-a", "thumbnail::*", "\(desk.container.mountPoint)/\(path)"],
            environment: desk.container.environment)
        return found.text.contains("thumbnail::is-valid: TRUE")
    }

    private func count(_ agent: Agent, _ field: String) -> Int {
        let text = agent.content(".shapeedit/status.json").text
        guard let place = text.firstRange(of: "\"\(field)\": ") else { return -1 }
        return Int(text[place.upperBound...].prefix { $0.isNumber }) ?? -1
    }

    @Test func `a promise has its picture where its content never was`() throws {
        try withPromises { desk, agent in
            for number in 0..<3 {
                let name = ByteString("\(number).slide")
                #expect(waitUntil { state(agent, name) == "ready" })
                for size in PictureDesk.sizes {
                    try #expect(
                        agent.content(desk.path("\(number).slide", size))
                            == desk.reference(PictureDesk.slide(number), "slide", size))
                }
                #expect(agent.attribute(name, "user.shapeedit.state") == "promise")
            }
            #expect(count(agent, "fetchedBytes") == 0)
            #expect(count(agent, "picturesDrawn") == 0)
            #expect(count(agent, "picturesFetched") == 3)
            #expect(count(agent, "fetchedPictureBytes") > 0)
        }
    }

    @Test func `links to promises, also in the folder of a query, have pictures for file managers`()
        throws
    {
        try #require(isInstalled("gio"))
        try withPromises { desk, agent in
            func hasPicture(_ path: String) throws -> Bool { try isSeen(desk, path) }
            for number in 0..<3 {
                #expect(waitUntil { state(agent, ByteString("\(number).slide")) == "ready" })
            }
            agent.setAttribute(".", "user.shapeedit.query.all", "type=slide&sort=name")
            agent.setAttribute(".", "user.shapeedit.query.one", "name=1*")
            #expect(agent.names(".shapeedit/queries/all").count == 3)
            #expect(agent.names(".shapeedit/queries/one").count == 1)
            var links = ["all/0.slide", "all/1.slide", "all/2.slide", "one/1.slide"]
                .map { ".shapeedit/queries/\($0)" }
            agent.makeDirectory("own")
            agent.shell(
                "ln -s ../1.slide own/link.slide; ln -s $PWD/0.slide own/other.slide; ls own")
            links += ["own/link.slide", "own/other.slide"]
            for link in links { try #expect(hasPicture(link), "\(link)") }
            // They follow the document, and go with it.
            agent.setTimes(
                "1.slide", accessed: .now, modified: .at(seconds: 1_000_000, nanoseconds: 5))
            for link in [links[1], links[3], links[4]] {
                try #expect(waitUntil { try hasPicture(link) })
            }
            // Links that come and go later.
            agent.shell("rm own/other.slide; ln -s ../2.slide own/later.slide")
            try #expect(waitUntil { try hasPicture("own/later.slide") })
            #expect(count(agent, "fetchedBytes") == 0)
            try #expect(waitUntil { try desk.entries().count == 4 * (3 + 6) })
            agent.unlink("1.slide")
            try #expect(waitUntil { try desk.entries().count == 4 * (2 + 3) })
            agent.shell("rmdir .shapeedit/queries/all")
            try #expect(waitUntil { try desk.entries().count == 4 * (2 + 1) })
        }
    }

    /// What comes before it in the order of changes takes longer than the listing.
    @Test(arguments: [
        ("ln -s $PWD/folder link", 1),
        // The link is looked at before what it comes after, under its first name.
        ("ln -s $PWD/folder new; sleep 0.6; mv -T new link", 1),
        ("ln -s $PWD/folder other; ln -s $PWD/folder link", 2),
    ])
    func `a folder that is listed by a link which was just made has pictures by that`(
        _ making: String, _ links: Int
    ) throws {
        try #require(isInstalled("gio"))
        try withPromises(preloading: Container.slowRename) { desk, agent in
            agent.shell("mkdir folder; mv 0.slide folder; ls . folder")
            try #expect(waitUntil { try desk.entries().count == 4 * 3 })
            agent.shell("touch -d @1000000 1.slide 2.slide; \(making); ls link/")
            try #expect(isSeen(desk, "link/0.slide"))
            try #expect(waitUntil { try desk.entries().count == 4 * (3 + links) })
            #expect(count(agent, "fetchedBytes") == 0)
        }
    }

    @Test func `a link that came back to its name has pictures, though its going is noticed later`()
        throws
    {
        try #require(isInstalled("gio"))
        try withPromises(preloading: Container.slowRename) { desk, agent in
            agent.shell("ln -s 0.slide link; ls")
            try #expect(waitUntil { try desk.entries().count == 4 * 4 })
            // What is first takes a while, what is last tells that all has been looked at.
            agent.shell("touch -d @1000000 1.slide; for i in 1 2; do mv link o; mv o link; done")
            agent.shell("touch -d @2000000 2.slide")
            try #expect(waitUntil { try isSeen(desk, "2.slide") })
            try #expect(desk.entries().count == 4 * 4)
            try #expect(isSeen(desk, "link"))
        }
    }

    @Test func `a link has pictures of what it leads to now, when that is another promise`() throws
    {
        try #require(isInstalled("gio"))
        try withPromises { desk, agent in
            agent.shell("for i in 0 1 2; do touch -d @$((i + 1))000000 $i.slide; done")
            agent.shell("mkdir links; ln -s ../0.slide links/link; ls . links")
            try #expect(waitUntil { try isSeen(desk, "links/link") })
            try #expect(waitUntil { try desk.entries().count == 4 * (3 + 1) })
            agent.shell("mv 0.slide a.slide; mv 1.slide 0.slide")
            try #expect(waitUntil { try isSeen(desk, "links/link") })
            let exchange = 2
            agent.rename("0.slide", "2.slide", flags: exchange)
            try #expect(waitUntil { try isSeen(desk, "links/link") })
            agent.shell("mv a.slide 1.slide; rm 0.slide")
            try #expect(waitUntil { try desk.entries().count == 4 * 2 })
            // What comes to be where it leads, and what becomes a promise there.
            agent.shell("mv 1.slide 0.slide")
            try #expect(waitUntil { try isSeen(desk, "links/link") })
            agent.store("3.slide", PictureDesk.slide(3))
            agent.shell("ln -s ../3.slide links/late; ls links")
            try #expect(!isSeen(desk, "links/late"))
            let path = "\(desk.container.mountPoint)/3.slide"
            try #expect(waitUntil { try desk.container.command("evict", path).status == 0 })
            try #expect(waitUntil { try isSeen(desk, "links/late") })
            #expect(count(agent, "fetchedBytes") == 0)
        }
    }

    @Test func `promises seen through a link to their folder have pictures for file managers`()
        throws
    {
        try #require(isInstalled("gio"))
        try withPromises { desk, agent in
            agent.shell("mkdir -p folder/deep other; mv 0.slide 1.slide folder")
            agent.shell("mv 2.slide folder/deep")
            agent.shell("ls . folder folder/deep; ln -s $PWD/folder link; ln -s ../link other/far")
            for folder in ["link", "other/far"] {
                agent.shell("ls . other; ls \(folder)/ \(folder)/deep/")
                for name in ["0.slide", "1.slide", "deep/2.slide"] {
                    try #expect(waitUntil { try isSeen(desk, "\(folder)/\(name)") }, "\(name)")
                }
            }
            try #expect(waitUntil { try desk.entries().count == 4 * 3 * 3 })
            agent.shell("mv folder/0.slide folder/deep/new.slide; rm folder/1.slide")
            for folder in ["link", "other/far", "folder"] {
                try #expect(waitUntil { try isSeen(desk, "\(folder)/deep/new.slide") })
            }
            try #expect(waitUntil { try desk.entries().count == 4 * 2 * 3 })
            agent.shell("rm other/far")
            try #expect(waitUntil { try desk.entries().count == 4 * 2 * 2 })
            agent.shell("mv folder moved")
            agent.shell("ls moved moved/deep")
            try #expect(waitUntil { try desk.entries().count == 4 * 2 })
            #expect(count(agent, "fetchedBytes") == 0)
        }
    }

    @Test func `a document that is evicted before anybody looked at it is drawn as it goes`()
        throws
    {
        try withPictures(store: "folder") { (desk) throws in
            func text(_ name: String) -> ByteString { ByteString("The words of \(name)\n") }
            let names = (0..<3).map { "\($0).txt" }
            for name in names { desk.agent.store(ByteString(name), text(name)) }
            for field in ["notYetDurable", "uploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            #expect(desk.count("picturesDrawn") == 0)
            for name in names {
                let path = "\(desk.container.mountPoint)/\(name)"
                #expect(
                    try waitUntil { try desk.container.command("evict", path).status == 0 })
            }
            for name in names {
                #expect(desk.settle(name) == "ready")
                #expect(try desk.picture(name) == desk.reference(text(name), "txt"))
                let state = desk.agent.attribute(ByteString(name), "user.shapeedit.state")
                #expect(state == "promise")
            }
            #expect(desk.count("fetchedBytes") == 0)
            // The pictures go to the store as others do.
            let folder = desk.container.storeFolder + "/pictures"
            let find = ["find", folder, "-type", "f", "!", "-name", "*-owner"]
            #expect(try waitUntil { try run(find).text.split(separator: "\n").count == 3 })
        }
    }

    @Test(arguments: [true, false])
    func `what was evicted and not drawn at an end, or a kill, is drawn in the next mount`(
        isKilled: Bool
    ) throws {
        try withPictures(
            thumbnailer: HaltedWorkers.thumbnailer(), patience: 0, store: "folder"
        ) { (desk) throws in
            let workers = HaltedWorkers(desk)
            desk.agent.store("drawn.slide", PictureDesk.slide(6))
            #expect(desk.settle("drawn.slide") == "ready")
            try workers.stop()
            desk.agent.store("a.txt", "Words\n")
            for field in ["notYetDurable", "uploads"] {
                #expect(waitUntil { desk.count(field) == 0 }, "\(field)")
            }
            let path = "\(desk.container.mountPoint)/a.txt"
            #expect(try waitUntil { try desk.container.command("evict", path).status == 0 })
            if isKilled {
                try desk.container.killDaemon()
            } else {
                desk.agent.end()
                try desk.container.unmount()
            }
            try workers.goOn()
            try desk.mount()
            let agent = try Agent(in: desk.container.mountPoint)
            defer { agent.end() }
            #expect(waitUntil { state(agent, "a.txt") == "ready" })
            #expect(
                try agent.content(desk.path("a.txt")) == desk.reference("Words\n", "txt"))
            #expect(agent.attribute("a.txt", "user.shapeedit.state") == "promise")
            #expect(count(agent, "fetchedBytes") == 0)
        }
    }

    @Test func `pictures go along when a container changes its store`() throws {
        try withPromises { desk, agent in
            agent.end()
            try desk.container.unmount()
            let other = "\(desk.container.base)/home/other"
            let result = try desk.container.command(
                "container", "move-store", desk.container.name, "folder:\(other)")
            try #require(result.status == 0, "\(result)")
            TemporaryDirectory.remove(desk.container.storeFolder)
            try desk.mount()
            let reader = try Agent(in: desk.container.mountPoint)
            defer { reader.end() }
            for number in 0..<3 {
                #expect(waitUntil { state(reader, ByteString("\(number).slide")) == "ready" })
                #expect(
                    try reader.content(desk.path("\(number).slide"))
                        == desk.reference(PictureDesk.slide(number), "slide"))
            }
            #expect(count(reader, "fetchedBytes") == 0)
            #expect(count(reader, "picturesDrawn") == 0)
        }
    }

    @Test func `the command for a picture fetches no content`() throws {
        try withPromises { desk, agent in
            let output = "\(desk.container.base)/picture.png"
            func picture(_ name: String, _ size: Int) throws -> ProgramResult {
                try desk.container.command(
                    "thumbnail", "\(desk.container.mountPoint)/\(name)", "-o", output, "--size",
                    "\(size)")
            }
            #expect(try picture("1.slide", 256).status == 0)
            #expect(
                try ByteString(PictureDesk.read(output))
                    == desk.reference(PictureDesk.slide(1), "slide"))
            unlink(output)
            _ = try run(["rm", "-rf", desk.container.storeFolder + "/pictures"])
            // The kept sizes and others.
            for size in [256, 300] {
                let result = try picture("0.slide", size)
                #expect(result.status == Int(EX_UNAVAILABLE), "\(result)")
                #expect(String(decoding: result.errors, as: UTF8.self).contains("materialize"))
                #expect(access(output, F_OK) != 0)
            }
            #expect(count(agent, "fetchedBytes") == 0)
            #expect(agent.attribute("0.slide", "user.shapeedit.state") == "promise")
            agent.store("empty.slide", "")
            let result = try picture("empty.slide", 256)
            #expect(result.status == Int(EX_DATAERR), "\(result)")
            #expect(String(decoding: result.errors, as: UTF8.self).contains("empty"))
        }
    }

    @Test func `without a picture in the store, or a sound one, a promise has a placeholder`()
        throws
    {
        try withPromises { desk, agent in
            let folder = desk.container.storeFolder + "/pictures"
            let files = try run(["find", folder, "-type", "f", "!", "-name", "*-owner"]).text
                .split(separator: "\n")
            #expect(files.count == 3)
            for file in files {
                try PictureDesk.write(Array("SEpics2\nnonsense".utf8), to: String(file))
            }
            let placeholder = agent.content(desk.path("0.slide"))
            #expect(waitUntil { state(agent, "0.slide") == "none" })
            #expect(agent.content(desk.path("0.slide")) == placeholder)
            _ = try run(["rm", "-rf", folder])
            #expect(agent.content(desk.path("1.slide")) == placeholder)
            #expect(waitUntil { state(agent, "1.slide") == "none" })
            #expect(count(agent, "fetchedBytes") == 0)
            // With its content it is drawn.
            #expect(agent.content("0.slide") == PictureDesk.slide(0))
            #expect(waitUntil { state(agent, "0.slide") == "ready" })
            try #expect(
                agent.content(desk.path("0.slide"))
                    == desk.reference(PictureDesk.slide(0), "slide"))
        }
    }
}
