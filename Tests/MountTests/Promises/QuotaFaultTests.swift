import Glibc
import Probing
import TestSupport
import Testing

/// A quota that is exceeded all the time, by several who write and read at once, on servers that fail and
/// with daemons that die.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct QuotaFaultTests {
    /// Writes, lets go and reads documents of its own for some seconds: JOURNAL NAME SEED SECONDS. The journal
    /// has what each document may hold: what was acknowledged last, and what was begun since. Without SECONDS
    /// all documents are compared with it.
    private static let writer = """
        import errno, os, random, sys, time
        journal, name, seed = sys.argv[1], sys.argv[2], sys.argv[3]
        source, known, last = random.Random(name + seed), {}, {}
        def content(document, number, size):
            return random.Random(f"{document} {number}").randbytes(size)
        def note(kind, document, number, size):
            # What is made in its place is empty until it is written: the daemon may die in between.
            if kind == "begun": known.setdefault(document, [None, (0, 0)]).append((number, size))
            else: known[document] = [(number, size)]
            last[document] = number
        for line in open(journal):
            kind, document, number, size = line.split()
            note(kind, document, int(number), int(size))
        log = os.open(journal, os.O_WRONLY | os.O_APPEND)
        def write(kind, document, number, size):
            os.write(log, f"{kind} {document} {number} {size}\\n".encode())
            note(kind, document, number, size)
        def compare(document):
            try:
                with open(document, "rb") as file:
                    # Without what the kernel still has of it.
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                    found = file.read()
            except FileNotFoundError: found = None
            expected = [each and content(document, *each) for each in known[document]]
            assert found in expected, (document, found and len(found), known[document])
        if len(sys.argv) == 4:
            for document in known: compare(document)
            sys.exit()
        end = time.monotonic() + float(sys.argv[4])
        try:
            while time.monotonic() < end:
                document, what = f"{name}{source.randrange(6)}", source.random()
                if what < 0.4 or document not in known:
                    number = last.get(document, 0) + 1
                    size = source.choice([1, 3000, 100000, 300000, 900000, 4500000])
                    write("begun", document, number, size)
                    place = source.choice([document, document + ".new"])
                    with open(place, "wb") as file: file.write(content(document, number, size))
                    os.rename(place, document)
                    for path in (".", document):
                        file = os.open(path, os.O_RDONLY)
                        os.fsync(file)
                        os.close(file)
                    write("stored", document, number, size)
                elif what < 0.5:
                    try: os.setxattr(document, "user.shapeedit.state", b"promise")
                    except OSError as problem:
                        if problem.errno not in (errno.EBUSY, errno.ENOENT): raise
                else:
                    try: compare(document)
                    except OSError as problem:
                        if problem.errno not in (errno.EIO, errno.ETIMEDOUT): raise
                time.sleep(0.01)
        except OSError as problem:
            # The daemon has been killed.
            if problem.errno not in (errno.ENOTCONN, errno.ECONNABORTED, errno.ENODEV): raise
        """

    private static let quota = 4 << 20

    /// Bytes of all that is here.
    private func localBytes(_ volume: Volume) throws -> Int {
        let listed = try volume.run(
            "sh", "-c",
            """
            for f in *; do
                case $(getfattr --only-values -n user.shapeedit.state "$f") in
                promise) ;;
                *) stat -c %s "$f" ;;
                esac
            done
            """)
        return listed.text.split(separator: "\n").compactMap { Int($0) }.reduce(0, +)
    }

    private func write(
        _ volume: Volume, _ journals: String, seed: UInt64, while body: () throws -> Void
    ) throws {
        let writers = try ["a", "b", "c", "d"].map { name in
            try RunningProgram(
                ["python3", "-c", Self.writer, "\(journals)/\(name)", name, "\(seed)", "4"]
                    .map { Array($0.utf8) }, directory: volume.directory)
        }
        try body()
        for writer in writers {
            let result = writer.wait(seconds: 120)
            #expect(result.status == 0, "\(result)")
        }
    }

    @Test(arguments: FaultyServer.Kind.interfaces)
    func `a quota is kept and nothing is lost, whatever fails while all write and read at once`(
        _ kind: FaultyServer.Kind
    ) throws {
        let seed = Seed.next("a quota is kept and nothing is lost, whatever fails")
        let server = try FaultyServer(kind, name: "quota-\(kind)")
        defer { server.stop() }
        let journals = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(journals) }
        _ = try run(["sh", "-c", "cd \(journals) && touch a b c d"])
        let options = ["store_timeout=2", "quota=\(Self.quota)"]
        try withVolume(.passthrough, store: server.address, options: options) { volume in
            var agent = try volume.agent()
            agent.shell("for f in pinned held; do head -c 600000 /dev/urandom > $f; sync $f; done")
            agent.shell("sha256sum pinned held > ../sums")
            try volume.shapeedit("pin", "@pinned")
            let faults = ["* hang", "* reset", "random \(seed % 1_000) 30 truncate lost wrong cut"]
            for (round, fault) in faults.enumerated() {
                let file = agent.open("held", O_RDONLY)
                let isKilled = round != 1
                try write(volume, journals, seed: seed &+ UInt64(round)) {
                    sleep(1)
                    try server.plan(fault)
                    sleep(UInt32(1 + seed % 2))
                    if isKilled {
                        volume.endAgents()
                        try #require(volume.container).killDaemon()
                    }
                    try server.plan()
                }
                if isKilled {
                    try volume.remountAfterCrash()
                    agent = try volume.agent()
                } else {
                    #expect(try volume.state("held") == "local")
                    agent.close(file)
                }
                try waitUntil {
                    try localBytes(volume) <= Self.quota && volume.state("pinned") == "local"
                }
                #expect(try localBytes(volume) <= Self.quota)
                #expect(try volume.state("pinned") == "local")
                for name in ["a", "b", "c", "d"] {
                    let all = try volume.run(
                        "python3", "-c", Self.writer, "\(journals)/\(name)", name, "0")
                    #expect(all.status == 0, "\(all)")
                }
                agent.shell("sha256sum --quiet -c ../sums")
            }
        }
    }
}
