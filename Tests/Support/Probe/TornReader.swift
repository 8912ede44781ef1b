import CKernel
import Glibc
import Probing

/// Reads a file again and again and counts what is not a whole version:
/// `torn-reader FILE read|slow|mmap|stat COUNT SECONDS`. Prints the counts and the first finds.
func runTornReader(_ arguments: ArraySlice<String>) -> Never {
    let words = Array(arguments)
    guard words.count == 4, let count = Int(words[2]), let seconds = Int(words[3]) else {
        exit(EX_USAGE)
    }
    // A mapped file that shrinks under the reader ends it: the worst kind of torn.
    signal(SIGBUS) { _ in
        let message: StaticString = "torn=1 SIGBUS\n"
        write(1, message.utf8Start, message.utf8CodeUnitCount)
        _exit(EX_DATAERR)
    }
    var reader = VersionReader(path: words[0], way: words[1])
    let end = time(nil) + seconds
    while reader.reads < count && time(nil) < end { reader.readOnce() }
    print(
        "reads=\(reader.reads) torn=\(reader.torn) empty=\(reader.empty) "
            + "errors=\(reader.errors) backwards=\(reader.backwards) versions=\(reader.versions)")
    for line in reader.finds { print(line) }
    exit(0)
}

private struct VersionReader {
    let path: String
    let way: String

    var reads = 0
    var torn = 0
    var empty = 0
    var errors = 0
    var backwards = 0
    var versions = 0
    var finds: [String] = []
    private var newest = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// The last version seen, so that not every read has to make the whole text again.
    private var known: [UInt8] = []

    init(path: String, way: String) {
        self.path = path
        self.way = way
    }

    mutating func readOnce() {
        reads += 1
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return fail("open") }
        defer { close(file) }
        switch way {
        case "slow": judge(readSlowly(file))
        case "mmap": judge(readMapped(file))
        case "stat": compareSizes(file)
        default: judge(readAtOnce(file))
        }
    }

    private mutating func readAtOnce(_ file: Int32) -> [UInt8]? {
        var all: [UInt8] = []
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0 {
                fail("read")
                return nil
            }
            if count == 0 { return all }
            all += buffer[..<count]
        }
    }

    /// Small pieces with pauses over one open: some versions come and go meanwhile.
    private mutating func readSlowly(_ file: Int32) -> [UInt8]? {
        var all: [UInt8] = []
        while true {
            let count = pread(file, &buffer, 2500, off_t(all.count))
            if count < 0 {
                fail("pread")
                return nil
            }
            if count == 0 { return all }
            all += buffer[..<count]
            usleep(300)
        }
    }

    private mutating func readMapped(_ file: Int32) -> [UInt8]? {
        let size = Int(lseek(file, 0, SEEK_END))
        if size == 0 { return [] }
        guard let memory = mmap(nil, size, PROT_READ, MAP_SHARED, file, 0), memory != MAP_FAILED
        else {
            fail("mmap")
            return nil
        }
        defer { munmap(memory, size) }
        let raw = UnsafeRawBufferPointer(start: memory, count: size)
        let first = Array(raw[..<(size / 2)])
        usleep(200)
        return first + Array(raw[(size / 2)...])
    }

    /// The size of stat and fstat has to be the content's.
    private mutating func compareSizes(_ file: Int32) {
        var before = stat()
        var opened = stat()
        var after = stat()
        guard stat(path, &before) == 0, fstat(file, &opened) == 0 else { return fail("stat") }
        guard let content = readAtOnce(file) else { return }
        guard stat(path, &after) == 0 else { return fail("stat") }
        judge(content)
        var sizes = [opened.st_size]
        // Nothing was published between the two: both speak of what was opened, or of the next.
        if before.st_mtim.tv_nsec == after.st_mtim.tv_nsec
            && opened.st_mtim.tv_nsec == before.st_mtim.tv_nsec
        {
            sizes += [before.st_size, after.st_size]
        }
        for size in sizes where size != content.count {
            torn += 1
            find("size \(size) of \(content.count) bytes")
        }
    }

    private mutating func judge(_ content: [UInt8]?) {
        guard let content else { return }
        if content == known && !content.isEmpty { return }
        switch SelfCheckingText.verdict(content, writer: 1) {
        case .whole(let version):
            if version < newest {
                backwards += 1
                find("version \(version) after \(newest)")
            }
            newest = max(newest, version)
            versions += 1
            known = content
        case .empty:
            empty += 1
            find("empty")
        case .torn(let how):
            torn += 1
            find(how)
        }
    }

    private mutating func fail(_ name: String) {
        errors += 1
        find("\(name): \(String(cString: strerror(errno)))")
    }

    private mutating func find(_ line: String) {
        if finds.count < 5 { finds.append("read \(reads): \(line)") }
    }
}
