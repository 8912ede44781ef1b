import Glibc
import Testing
import Thumbnailing

/// Worker processes, real ones.
@Suite(.serialized) struct WorkerTests {
    /// What a worker that is soon given up may take: time enough for a picture all the same.
    private static let briefLimit: UInt64 = 5_000

    private let worker = ThumbnailWorker(program: Surroundings.program)
    private let brief = ThumbnailWorker(
        program: Surroundings.program, wallLimit: Self.briefLimit)

    private func request(_ name: String, size: UInt16 = 128) throws -> DrawingRequest {
        DrawingRequest(
            type: try #require(DrawnType(fileName: name)), size: size, title: "Title",
            bytes: try Surroundings.sample(name))
    }

    @Test func `one process draws every type and is kept`() throws {
        for name in [
            "three.shape", "torus.shapeFile", "eight.slide", "groceries.list", "tasks.txt",
        ] {
            let file = try #require(PNGFile(try worker.picture(request(name))), "\(name)")
            #expect(max(file.width, file.height) == 128)
        }
        let page = DrawingRequest(type: .markdown, size: 256, bytes: Array("# Title".utf8))
        #expect(PNGFile(try worker.picture(page))?.height == 256)
        #expect(worker.starts == 1)
        worker.stop()
        #expect(worker.processIdentifier == nil)
    }

    @Test func `solids have the proportions of the original app's pictures`() throws {
        for name in ["three.shape", "torus.shapeFile"] {
            for (size, width) in [(128, 104), (256, 209), (1_024, 834)] {
                let picture = try worker.picture(request(name, size: UInt16(size)))
                let file = try #require(PNGFile(picture), "\(name)")
                #expect(file.width == width && file.height == size, "\(name): \(file.width)")
            }
        }
    }

    @Test func `documents come by descriptor too, from their start`() throws {
        let path = "\(Surroundings.package)/Tests/DocumentsTests/Corpus/three.shape"
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        lseek(descriptor, 10, SEEK_SET)
        var request = try request("three.shape")
        let expected = try worker.picture(request)
        request.bytes = nil
        #expect(try worker.picture(request, descriptor: descriptor) == expected)
        #expect(lseek(descriptor, 0, SEEK_CUR) == 10)
        #expect(throws: ThumbnailFailure.refused("no document was sent")) {
            try worker.picture(request)
        }
        #expect(worker.starts == 1)
    }

    @Test func `a worker is confined by all that this kernel has`() throws {
        try worker.warmUp()
        let confinement = try #require(worker.confinement)
        #expect(confinement.isSuperset(of: [.noNewPrivileges, .limits]))
        let identifier = try #require(worker.processIdentifier)
        let status = try Surroundings.run("cat /proc/\(identifier)/status").output
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2") == confinement.contains(.seccomp))
        let limits = try Surroundings.run("cat /proc/\(identifier)/limits").output
        #expect(limits.contains("Max address space         1073741824"))
        #expect(limits.contains("Max file size             16777216"))
    }

    @Test func `a worker has no descriptors but its socket`() throws {
        let extra = open("/dev/null", O_RDONLY)  // without O_CLOEXEC
        defer { close(extra) }
        try worker.warmUp()
        let identifier = try #require(worker.processIdentifier)
        let listed = try Surroundings.run("ls /proc/\(identifier)/fd").output.split(separator: "\n")
        #expect(listed.count <= 4, "\(listed)")
    }

    @Test func `a hanging worker costs one failure within the limit`() throws {
        try brief.warmUp()
        kill(try #require(brief.processIdentifier), SIGSTOP)
        let start = ContinuousClock.now
        #expect(throws: ThumbnailFailure.timedOut(milliseconds: Self.briefLimit)) {
            try brief.picture(request("three.shape"))
        }
        #expect(ContinuousClock.now - start < .milliseconds(Self.briefLimit + 10_000))
        #expect(PNGFile(try brief.picture(request("three.shape"))) != nil)
        #expect(brief.starts == 2)
    }

    @Test func `a stopped worker that takes no more bytes is no hang either`() throws {
        try brief.warmUp()
        kill(try #require(brief.processIdentifier), SIGSTOP)
        let large = DrawingRequest(
            type: .text, size: 128, bytes: [UInt8](repeating: 65, count: 8 << 20))
        #expect(throws: ThumbnailFailure.timedOut(milliseconds: Self.briefLimit)) {
            try brief.picture(large)
        }
        #expect(PNGFile(try brief.picture(request("three.shape"))) != nil)
        // The large one by a worker with time: how fast it is drawn is not what is tested.
        #expect(PNGFile(try worker.picture(large)) != nil)
    }

    @Test(arguments: [SIGSEGV, SIGABRT])
    func `a worker that dies costs one failure`(_ signal: Int32) throws {
        try worker.warmUp()
        let identifier = try #require(worker.processIdentifier)
        // Stopped, it has the document and does not draw it.
        kill(identifier, SIGSTOP)
        let ending = "sleep 5; kill -\(signal) \(identifier); kill -CONT \(identifier)"
        _ = try Surroundings.run("(\(ending)) > /dev/null 2>&1 &")
        let problem = #expect(throws: ThumbnailFailure.self) {
            try worker.picture(request("three.shape"))
        }
        guard case .died(let how) = problem else {
            Issue.record("\(problem as Any)")
            return
        }
        #expect(how.hasPrefix("signal \(signal) "))
        #expect(PNGFile(try worker.picture(request("three.shape"))) != nil)
        // The dead one is reaped.
        #expect(kill(identifier, 0) == -1)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGKILL])
    func `a worker that others end says nothing of the document`(_ signal: Int32) throws {
        try worker.warmUp()
        let identifier = try #require(worker.processIdentifier)
        // Stopped, it has the document and does not draw it.
        kill(identifier, SIGSTOP)
        let ending = "sleep 2; kill -\(signal) \(identifier); kill -CONT \(identifier)"
        _ = try Surroundings.run("(\(ending)) > /dev/null 2>&1 &")
        let problem = #expect(throws: ThumbnailFailure.self) {
            try worker.picture(request("three.shape"))
        }
        guard case .ended(let how) = problem else {
            Issue.record("\(problem as Any)")
            return
        }
        #expect(how.hasPrefix("signal \(signal) "))
        #expect(PNGFile(try worker.picture(request("three.shape"))) != nil)
    }

    @Test func `a worker that died between two documents costs none`() throws {
        _ = try worker.picture(request("three.shape"))
        let identifier = try #require(worker.processIdentifier)
        kill(identifier, SIGKILL)
        for _ in 0..<500 {
            let status = try Surroundings.run("cat /proc/\(identifier)/status").output
            if status.contains("State:\tZ") { break }
            usleep(10_000)
        }
        #expect(PNGFile(try worker.picture(request("three.shape"))) != nil)
        #expect(worker.starts == 2)
        #expect(kill(identifier, 0) == -1)
    }

    @Test func `cancelling ends a drawing and the next one works`() throws {
        let cancellation = try Cancellation()
        try worker.warmUp()
        kill(try #require(worker.processIdentifier), SIGSTOP)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(cancellation).toOpaque()
        pthread_create(
            &thread, nil,
            { argument in
                // By then it draws; one cancelled before would not end the stopped process.
                sleep(1)
                argument.map { Unmanaged<Cancellation>.fromOpaque($0).takeRetainedValue().cancel() }
                return nil
            }, argument)
        #expect(throws: ThumbnailFailure.cancelled) {
            try worker.picture(request("three.shape"), cancellation: cancellation)
        }
        pthread_join(thread, nil)
        #expect(throws: ThumbnailFailure.cancelled) {
            try worker.picture(request("three.shape"), cancellation: cancellation)
        }
        #expect(PNGFile(try worker.picture(request("three.shape"))) != nil)
    }

    /// A worker that answers a request for words with so many bytes, whatever the document is.
    private func text(title: Int, body: Int, in folder: TemporaryFolder) throws -> WorkerText {
        let program = folder.path + "/worker"
        let count = 1 + title + 1 + body
        let length = (0..<4).map { "\\" + String(count >> ($0 * 8) & 0xFF, radix: 8) }.joined()
        let script = """
            #!/bin/sh
            letters() { head -c $1 /dev/zero | tr '\\0' a; }
            { printf '\\2\\0\\0\\0\\0\\17'; printf '\(length)\\3'; letters \(title)
              printf '\\0'; letters \(body); } >&0
            exec cat > /dev/null

            """
        try Surroundings.write(Array(script.utf8), to: program)
        chmod(program, 0o755)
        return try ThumbnailWorker(program: program)
            .text(TextRequest(type: .text, bytes: Array("words".utf8)))
    }

    @Test func `a worker that tells more than documents have in them is not believed`() throws {
        let folder = try TemporaryFolder()
        let found = try text(title: 4_096, body: 262_144, in: folder)
        #expect(found.title.count == 4_096 && found.body.count == 262_144)
        for (title, body) in [(5_000, 10), (10, 600_000)] {
            #expect(throws: ThumbnailFailure.died("an answer that is none")) {
                try text(title: title, body: body, in: folder)
            }
        }
    }

    @Test func `a program that is not there is said to be unavailable`() {
        let worker = ThumbnailWorker(program: "/nonexistent/thumbnailer")
        #expect(throws: ThumbnailFailure.self) { try worker.warmUp() }
        let wrong = ThumbnailWorker(program: "/bin/true")
        #expect(throws: ThumbnailFailure.self) { try wrong.warmUp() }
    }
}
