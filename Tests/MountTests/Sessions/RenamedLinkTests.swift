import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct RenamedLinkTests {
    /// The kernel takes what it keeps of a name along to the next one: a rename that is on its way when the
    /// file is opened to write must not bring the version before to a name that the kernel was not told of.
    @Test(arguments: DataPath.mounts)
    func `after a close the version is seen by a link that is renamed meanwhile`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("in")
            agent.store("a", "00000000")
            agent.link("a", "in/b")
            let loop = """
                while (!-e "stop") { rename "in/b", "in/c"; rename "in/c", "in/b"; \
                select undef, undef, undef, rand 0.002 }
                """
            let program = try start(loop, volume)
            var stale: [String] = []
            for number in 1...600 {
                let bytes = save("a", number, agent)
                var seen: String?
                for _ in 0..<10_000 where seen == nil {
                    seen =
                        text(of: "\(volume.directory)/in/b") ?? text(of: "\(volume.directory)/in/c")
                }
                if seen != bytes { stale.append("\(seen ?? "nothing") after \(bytes)") }
            }
            end(program, volume)
            #expect(stale.isEmpty, "\(stale.count): \(stale.prefix(5))")
        }
    }

    /// The kernel counts a name that it removes itself: told meanwhile, by others that read the file, that there
    /// is one less, it came to none, and linked the file no more.
    @Test(arguments: DataPath.mounts)
    func `a file is linked and unlinked while others read it`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.store("a", "00000000")
            let reader = """
                while (!-e "stop") { open my $file, "<", "a" or next; stat $file; sysread $file, my $text, 8 }
                """
            try linkAndUnlink("b", volume, beside: [reader, reader])
        }
    }

    /// So it was where the program had no processor for longer than others waited to be told.
    @Test(
        .enabled(
            if: geteuid() == 0 && sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1,
            "needs root and two processors"),
        arguments: DataPath.mounts)
    func `a file is linked and unlinked by a program that is kept from going on`(_ place: DataPath)
        throws
    {
        try withVolume(place) { volume in
            try volume.agent().store("a", "00000000")
            let reader = """
                while (!-e "stop") { open my $file, "<", "a" or next; stat $file }
                """
            let hog = """
                use Time::HiRes "time"; while (!-e "stop") { my $end = time + 0.045; \
                1 while time < $end; select undef, undef, undef, 0.003 }
                """
            let programs = [
                try start(reader, by: ["taskset", "-c", "1"], volume),
                try start(hog, by: ["taskset", "-c", "0", "chrt", "-f", "50"], volume),
            ]
            defer { for program in programs { end(program, volume) } }
            let loop = """
                for (1 .. 150) { link "a", "b" or die "link $_: $!"; unlink "b" or die "unlink $_: $!" }
                """
            let result = try volume.run("taskset", "-c", "0", "perl", "-e", loop)
            #expect(result.status == 0, "\(result)")
        }
    }

    /// Whoever looks the file up is told that number, too, and the kernel counts for another folder by itself.
    @Test(arguments: DataPath.mounts)
    func `a file is linked into another folder and unlinked there while others write it`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("in")
            agent.store("a", "00000000")
            let lister = """
                while (!-e "stop") { opendir my $folder, "." or next; stat $_ for readdir $folder }
                """
            let writer = """
                while (!-e "stop") { open my $file, "+<", "a" or next; syswrite $file, "x"; \
                select undef, undef, undef, 0.002 }
                """
            try linkAndUnlink("in/b", volume, beside: [lister, lister, writer])
        }
    }

    /// Gives "a" another name and takes it away, many times, while other programs run.
    private func linkAndUnlink(
        _ name: String, _ volume: Volume, beside others: [String]
    ) throws {
        let programs = try others.map { try start($0, volume) }
        defer { for program in programs { end(program, volume) } }
        // A number may be told late, once in thousands where much else runs, and never stays wrong.
        let loop = """
            my (@failed, $late); \
            sub names { my $wanted = shift; return 1 if (stat "a")[3] == $wanted; \
            select undef, undef, undef, 0.1; return (stat "a")[3] == $wanted && ++$late < 3 } \
            for (1 .. 4000) { \
            link "a", "\(name)" or push @failed, "link $_: $!"; \
            $_ % 20 or names(2) or push @failed, "linked $_"; \
            unlink "\(name)" or push @failed, "unlink $_: $!"; \
            $_ % 20 or names(1) or push @failed, "unlinked $_" }; \
            print scalar @failed, ": @failed[0 .. 3]" if @failed
            """
        let result = try volume.run("perl", "-e", loop)
        #expect(result.status == 0 && result.output.isEmpty, "\(result)")
    }

    /// Who was sent round by the one item and comes back by the other, since that has the name by now, begins
    /// a session of it like anybody else: its links must not lead to the version before after the close.
    @Test(arguments: DataPath.mounts)
    func `after a close the version is seen by the links of a file that got the name meanwhile`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("in")
            agent.store("a", "00000000")
            agent.link("a", "in/00000000")
            // Each file has another link, which the kernel knows, before it takes the name.
            let loop = """
                my $number = 0; while (!-e "stop") { my $link = sprintf "in/%08d", ++$number; \
                open my $file, ">", "b"; print $file substr $link, 3; close $file; \
                link "b", $link; stat $link; rename "b", "a"; \
                unlink sprintf "in/%08d", $number - 100 }
                """
            let program = try start(loop, volume)
            var looks = 0
            var stale: [String] = []
            for number in 1...300 {
                let bytes = String(10_000_000 + number)
                let file = agent.open("a", O_RDWR)
                let link = agent.read(file, count: 8).text
                agent.write(file, ByteString(bytes))
                agent.close(file)
                // By this process, which did not write it.
                guard let seen = text(of: "\(volume.directory)/in/\(link)", from: 8) else {
                    continue
                }
                looks += 1
                if seen != bytes { stale.append("\(seen) after \(bytes)") }
            }
            end(program, volume)
            #expect(looks > 30)
            #expect(stale.count == 0, "\(stale.count) of \(looks): \(stale.prefix(5))")
        }
    }

    /// The kernel leads by a name to what it led to until it has taken it away itself, some moments after the
    /// daemon did; here they are long, since whoever removes the name has to wait for the processor.
    @Test(arguments: DataPath.mounts)
    func `after a close the version is seen by a link that is being removed`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.makeDirectory("in")
            agent.store("a", "00000000")
            let loop = """
                my $busy = fork // die; exec qw(chrt --fifo 1 perl -MTime::HiRes=time -e), q{ \
                while (getppid == $ARGV[0]) { my $end = time + 0.004; 1 while time < $end; \
                select undef, undef, undef, 0.001 } }, getppid if !$busy; \
                while (!-e "stop") { link "a", "in/b"; stat "in/b"; unlink "in/b" } kill "KILL", $busy
                """
            let program = try start(loop, by: ["taskset", "1"], volume)
            var looks = 0
            var stale: [String] = []
            let start = ContinuousClock.now
            var number = 0
            while start.duration(to: .now) < .seconds(1) || looks < 10, number < 2_000 {
                number += 1
                // Time to find the link while nobody writes.
                usleep(.random(in: 0..<10_000))
                let bytes = save("a", number, agent)
                guard let seen = text(of: "\(volume.directory)/in/b") else { continue }
                looks += 1
                if seen != bytes { stale.append("\(seen) after \(bytes)") }
            }
            end(program, volume)
            #expect(looks >= 10)
            #expect(stale.count == 0, "\(stale.count) of \(looks): \(stale.prefix(5))")
        }
    }

    /// The kernel looks up both names of an exchange, and where a version is published between the two, one
    /// name has two entries in its cache afterwards: of these it would forget one only.
    @Test(arguments: DataPath.mounts)
    func `after a close the version is seen by a name that is exchanged with itself`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.store("a", "00000000")
            agent.link("a", "b")
            let loop = """
                my $name = "a"; syscall 316, -100, $name, -100, $name, 2 while !-e "stop"
                """
            let program = try start(loop, volume)
            var stale: [String] = []
            for number in 1...600 {
                let bytes = save("b", number, agent)
                let seen = text(of: "\(volume.directory)/a")
                if seen != bytes { stale.append("\(seen ?? "nothing") after \(bytes)") }
            }
            end(program, volume)
            #expect(stale.count == 0, "\(stale.count): \(stale.prefix(5))")
        }
    }

    /// Starts a perl program that changes names until there is a file `stop`.
    private func start(
        _ loop: String, by words: [String] = [], _ volume: Volume
    ) throws -> RunningProgram {
        try RunningProgram(
            (["timeout", "300"] + words + ["perl", "-e", loop]).map { Array($0.utf8) },
            directory: volume.directory)
    }

    private func end(_ program: RunningProgram, _ volume: Volume) {
        close(creat("\(volume.directory)/stop", 0o644))
        #expect(program.wait(seconds: 60).status == 0)
    }

    /// Has the agent save eight bytes, which are returned: whoever looks is this process, which did not
    /// write them.
    private func save(_ name: ByteString, _ number: Int, _ agent: Agent) -> String {
        let bytes = String(10_000_000 + number)
        let file = agent.open(name, O_RDWR)
        agent.write(file, ByteString(bytes))
        agent.close(file)
        return bytes
    }

    /// Eight bytes of a file; nil if there is none.
    private func text(of path: String, from offset: Int = 0) -> String? {
        let file = Glibc.open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = pread(file, &bytes, bytes.count, offset)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
