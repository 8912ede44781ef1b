import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

@testable import DocumentKit

/// The library's coordinator, with this process as one of those that use a container.
@Suite(.oneAtATime) struct FileCoordinatorTests {
    @Test(arguments: places)
    func `work of several coordinators on one item does not overlap`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let folder = volume.directory
            let path = "\(folder)/counter"
            try store(path, "0")
            let left = Monitor(4)
            let problems = Lock([String]())
            for _ in 0..<4 {
                Threads.start("counts") {
                    do {
                        for _ in 0..<10 {
                            let coordinator = FileCoordinator()
                            try coordinator.coordinate(
                                [FileIntent(path, .write)], waiting: .seconds(60)
                            ) { paths in
                                var bytes = [UInt8](repeating: 0, count: 16)
                                let file = try OwnedDescriptor.open(paths[0], O_RDONLY)
                                let count = try file.read(into: &bytes, at: 0)
                                let text = String(decoding: bytes[..<count], as: UTF8.self)
                                try store(paths[0], "\((Int(text) ?? -1000) + 1)")
                            }
                        }
                    } catch {
                        problems.withLock { $0.append("\(error)") }
                    }
                    left.signal { $0 -= 1 }
                }
            }
            let _: Bool? = left.wait(until: MonotonicClock.after(milliseconds: 120_000)) {
                $0 == 0 ? true : nil
            }
            #expect(problems.withLock { $0 } == [])
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = try OwnedDescriptor.open(path, O_RDONLY).read(into: &bytes, at: 0)
            #expect(String(decoding: bytes[..<count], as: UTF8.self) == "40")
        }
    }

    @Test(arguments: places)
    func `readers share, waiting is bounded, and errors of the work pass`(
        _ dataPath: DataPath
    ) throws {
        struct Odd: Error {}
        try withVolume(dataPath) { volume in
            let folder = volume.directory
            let path = "\(folder)/item"
            try store(path, "x")
            let one = FileCoordinator()
            try one.coordinate([FileIntent(path, .read)]) { _ in
                #expect(
                    try FileCoordinator().coordinate([FileIntent(path, .read)]) { $0 } == [path])
                do {
                    try FileCoordinator().coordinate(
                        [FileIntent(path, .write)], waiting: .milliseconds(100)
                    ) { _ in Issue.record("a writer came in") }
                } catch let error as CoordinationError {
                    guard case .timedOut(let holders) = error else { throw error }
                    #expect("\(error)".hasPrefix("the claim was not granted in time"), "\(error)")
                    if dataPath != .plain {
                        #expect(holders.map(\.process) == [Int(getpid())])
                        let words = "(process \(getpid())) has read on work/item since"
                        #expect("\(error)".contains(words))
                    }
                }
            }
            #expect(throws: Odd.self) {
                try one.coordinate([FileIntent(path, .write)]) { _ in throw Odd() }
            }
            // It was let go.
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in }
            // What is not there yet can be had, what has no folder cannot.
            try one.coordinate([FileIntent("\(folder)/new", .writeReplacing)]) { paths in
                try store(paths[0], "new")
            }
            #expect(throws: CoordinationError.self) {
                try one.coordinate([FileIntent("\(folder)/none/new", .write)]) { _ in }
            }
        }
    }

    @Test(arguments: places)
    func `what only reads shares, and what writes excludes, for whatever purpose`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let path = "\(volume.directory)/item"
            try store(path, "x")
            for held in FileAccess.allCases {
                try FileCoordinator().coordinate([FileIntent(path, held)]) { _ in
                    for wanted in FileAccess.allCases {
                        let isHad =
                            (try? FileCoordinator().coordinate(
                                [FileIntent(path, wanted)], waiting: .milliseconds(20)
                            ) { _ in true }) != nil
                        #expect(
                            isHad == (!held.writes && !wanted.writes), "\(wanted) beside \(held)")
                    }
                }
            }
        }
    }

    @Test func `what is opened for uploading stays the version that it was`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/item"
            try store(path, "one")
            var opened: OwnedDescriptor?
            try FileCoordinator().coordinate([FileIntent(path, .readForUploading)]) {
                opened = try OwnedDescriptor.open($0[0], O_RDONLY)
            }
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { try store($0[0], "two") }
            var bytes = [UInt8](repeating: 0, count: 8)
            let count = try opened?.read(into: &bytes, at: 0) ?? 0
            #expect(String(decoding: bytes[..<count], as: UTF8.self) == "one")
            #expect(text(of: path) == "two")
        }
    }

    @Test(arguments: places)
    func `a link stands for what it leads to, but for what is done to the link`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let (path, link) = ("\(volume.directory)/item", "\(volume.directory)/link")
            try store(path, "x")
            #expect(symlink("item", link) == 0)
            let short = Duration.milliseconds(50)
            for access in [FileAccess.read, .write, .writeMerging, .writeMetadata] {
                try FileCoordinator().coordinate([FileIntent(link, access)]) { (paths) throws in
                    #expect(paths == [path])
                    #expect(throws: CoordinationError.self) {
                        try FileCoordinator().coordinate(
                            [FileIntent(path, .write)], waiting: short
                        ) { _ in }
                    }
                }
            }
            // The root of a container has no slash behind it either.
            for folder in [volume.directory, volume.root.text] {
                let intents = [FileIntent(folder, .read)]
                #expect(try FileCoordinator().coordinate(intents) { $0 } == [folder])
            }
            // So does one whose item is away; where none can be made it is an item by itself.
            for (link, target, meant) in [
                ("away", "none", "none"), ("loose", "no/folder", "loose"),
            ] {
                #expect(symlink(target, "\(volume.directory)/\(link)") == 0)
                try FileCoordinator().coordinate(
                    [FileIntent("\(volume.directory)/\(link)", .write)]
                ) { (paths) throws in #expect(paths == ["\(volume.directory)/\(meant)"]) }
            }
            // Outside of containers a lock can only be had of what is opened.
            if dataPath == .plain { return }
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { (_) throws in
                let moved = try FileCoordinator().coordinate(
                    [FileIntent(link, .writeMoving)], waiting: .seconds(30)
                ) { $0 }
                #expect(moved == [link])
            }
        }
    }

    @Test(arguments: places)
    func `what can never be claimed is told from what cannot be now`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            func intents(_ count: Int) -> [FileIntent] {
                (0..<count).map { FileIntent("\(volume.directory)/\($0)", .write) }
            }
            #expect(try FileCoordinator().coordinate(intents(256)) { $0.count } == 256)
            if dataPath != .plain {
                do {
                    try FileCoordinator().coordinate(intents(257)) { _ in }
                    Issue.record("it was claimed")
                } catch CoordinationError.badPath(let path, _) {
                    #expect(path == "\(volume.directory)/256")
                }
            }
            let path = "\(volume.directory)/" + String(repeating: "x", count: 256)
            let words = "\(Errno(ENAMETOOLONG))"
            #expect(throws: CoordinationError.badPath(path, words)) {
                try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in }
            }
        }
    }

    @Test(arguments: [1e300, -1e300, .infinity, .nan, 0])
    func `who is in the way is told whatever a daemon says is the time`(_ since: Double) {
        let claimant = Claimant(
            process: 12, command: "vim", kind: .claim, state: .granted, since: since,
            targets: [FileIntent("notes.txt", .write)])
        #expect(
            CoordinationError.timedOut([claimant]).description
                == "the claim was not granted in time: "
                + "vim (process 12) has write on notes.txt")
    }

    @Test func `claims of one purpose nest, and cancelling ends the waiting`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/item"
            try store(path, "x")
            let one = FileCoordinator(purpose: "mine")
            try one.coordinate([FileIntent(path, .write)]) { _ in
                try FileCoordinator(purpose: "mine").coordinate([FileIntent(path, .read)]) { _ in }
                let claims = try FileCoordinator.claims(around: path)
                #expect(claims.mountPoint == volume.container?.mountPoint)
                #expect(claims.list.map(\.claimant.targets) == [[FileIntent("work/item", .write)]])
                let other = FileCoordinator()
                let outcome = Monitor<String?>(nil)
                Threads.start("waits") {
                    do {
                        try other.coordinate([FileIntent(path, .read)]) { _ in }
                        outcome.signal { $0 = "granted" }
                    } catch {
                        outcome.signal { $0 = "\(error)" }
                    }
                }
                while try FileCoordinator.claims(around: path).list.count < 2 { usleep(1000) }
                other.cancel()
                let found = outcome.wait(until: MonotonicClock.after(milliseconds: 30_000)) { $0 }
                #expect(found == "\(CoordinationError.cancelled)")
                #expect(throws: CoordinationError.cancelled) {
                    try other.coordinate([FileIntent(path, .read)]) { _ in }
                }
            }
        }
    }

    @Test func `cancelling at the moment of the grant lets no work begin without its claim`() throws
    {
        try withVolume(.passthrough) { volume in
            let path = "\(volume.directory)/item"
            try store(path, "x")
            for round in 0..<300 {
                let coordinator = FileCoordinator()
                let isDone = Monitor(false)
                Threads.start("cancels") {
                    // About as long as it takes to be granted.
                    usleep(UInt32(round % 100) * 20)
                    coordinator.cancel()
                    isDone.signal { $0 = true }
                }
                do {
                    try coordinator.coordinate([FileIntent(path, .write)]) { _ in
                        _ = isDone.wait { $0 ? true : nil }
                    }
                } catch CoordinationError.cancelled {}
            }
        }
    }

    @Test(arguments: places)
    func `one claim has names of one item, and new ones in one folder, to read and to write`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath) { volume in
            let folder = volume.directory
            try store("\(folder)/one", "1")
            #expect(link("\(folder)/one", "\(folder)/two") == 0)
            for (read, written) in [("one", "two"), ("new", "newer"), ("new", "new")] {
                let intents = [
                    FileIntent("\(folder)/\(read)", .read),
                    FileIntent("\(folder)/\(written)", .write),
                ]
                let paths = try FileCoordinator().coordinate(intents, waiting: .seconds(5)) { $0 }
                #expect(paths == intents.map(\.path))
            }
        }
    }

    @Test func `on a plain folder what is of one purpose shares a lock to write`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/item"
            try store(path, "x")
            // The folder's lock stands for each of those that are not there.
            let intents = [
                FileIntent(path, .read), FileIntent(path, .write),
                FileIntent("\(volume.directory)/new", .write),
                FileIntent("\(volume.directory)/newer", .write),
            ]
            let one = FileCoordinator(purpose: "mine")
            try one.coordinate(intents, waiting: .zero) { _ in
                for access in [FileAccess.read, .write] {
                    let nested = FileCoordinator(purpose: "mine")
                    try nested.coordinate([FileIntent(path, access)], waiting: .zero) { _ in }
                    // It is not let go with the inner one.
                    #expect(throws: CoordinationError.self) {
                        try FileCoordinator().coordinate(
                            [FileIntent(path, .read)], waiting: .zero
                        ) { _ in }
                    }
                }
            }
            try FileCoordinator().coordinate(
                [FileIntent(path, .write)], waiting: .zero
            ) { _ in }
        }
    }

    @Test(arguments: places)
    func `who is cancelled waits no longer`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let path = "\(volume.directory)/item"
            try store(path, "x")
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in
                let other = FileCoordinator()
                let outcome = Monitor<String?>(nil)
                Threads.start("waits") {
                    do {
                        try other.coordinate(
                            [FileIntent(path, .read)], waiting: .seconds(3_600)
                        ) { _ in }
                        outcome.signal { $0 = "granted" }
                    } catch {
                        outcome.signal { $0 = "\(error)" }
                    }
                }
                usleep(100_000)
                other.cancel()
                let found = outcome.wait(until: MonotonicClock.after(milliseconds: 30_000)) { $0 }
                #expect(found == "\(CoordinationError.cancelled)")
                #expect(throws: CoordinationError.cancelled) {
                    try other.coordinate([FileIntent(path, .read)]) { _ in }
                }
            }
            // Longer than any clock counts, and before it began.
            for seconds in [Int64.max, .min] {
                try FileCoordinator().coordinate(
                    [FileIntent(path, .write)], waiting: .seconds(seconds)
                ) { _ in }
            }
        }
    }

    @Test func `the interface and the library have the same accesses`() throws {
        // This file is Tests/DocumentKitTests/FileCoordinatorTests.swift.
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/")
        let file = try OwnedDescriptor.open(
            "\(root)/Sources/Control/Interface/org.shapeedit.Control.varlink", O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = try file.read(into: &bytes, at: 0)
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let words = text.split { !$0.isLetter }.map(String.init)
        let start = try #require(words.firstIndex(of: "access"))
        let listed = words[(start + 1)...].prefix(FileAccess.allCases.count)
        #expect(Array(listed) == FileAccess.allCases.map(\.rawValue))
    }

    @Test(arguments: places)
    func `who has locked an item is named`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let path = "\(volume.directory)/document"
            let agent = try volume.agent()
            agent.store("document", "x")
            let file = agent.open("document", O_RDWR)
            #expect(FileCoordinator.holders(of: path) == [])
            agent.lock(file, LOCK_SH)
            usleep(1_200_000)
            let holders = FileCoordinator.holders(of: path)
            #expect(holders.map(\.process) == [agent.process], "\(holders)")
            #expect(holders.map(\.kind) == [.lock] && holders.first?.command.isEmpty == false)
            // Outside of containers nobody knows since when.
            let since = holders.first?.since ?? -1
            let now = Double(WallClock.now.seconds) + Double(WallClock.now.nanoseconds) / 1e9
            let isRight = dataPath == .plain ? since == 0 : (now - 30..<now - 1).contains(since)
            #expect(isRight, "\(since)")
            agent.lock(file, LOCK_UN)
            #expect(FileCoordinator.holders(of: path) == [])
        }
    }
}
