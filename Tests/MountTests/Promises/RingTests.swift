import Probing
import TestSupport
import Testing

/// The program that reads by io_uring.
private enum RingReader {
    /// Behind `python3 -c`: other users may not be able to enter the folder where it is.
    static let script =
        (try? run(["cat", #filePath.replacing("RingTests.swift", with: "rings.py")]).text) ?? ""
    static let isAvailable =
        (try? run(["python3", "-c", script, "read", "/dev/null", "O_RDONLY", "1", "0"]).status) == 0
}

/// Reads and writes by io_uring. Past its page cache the kernel asks for the rest of a read across the end once more
/// and at the same place, and leaves the descriptor's place where it is.
@Suite(
    .oneAtATime,
    .enabled(if: isInstalled("python3"), "needs python3"),
    .enabled(if: RingReader.isAvailable, "needs io_uring"))
struct RingTests {
    /// Has a file read by a ring from each place on, as a promise if `isPromise`, and compares with dd(1).
    private func check(
        _ volume: Volume, _ name: String, _ flags: String, _ size: Int, _ offsets: [Int],
        asPromise isPromise: Bool
    ) throws {
        let parts = offsets.map {
            "dd if=\(name) bs=64K iflag=skip_bytes,count_bytes,fullblock skip=\($0) count=\(size) "
                + "of=part status=none; stat -c %s part; sha256sum < part | cut -d ' ' -f 1"
        }
        let lines = try volume.run("sh", "-c", parts.joined(separator: "; ")).text
            .split(separator: "\n")
        let wanted = stride(from: 0, to: lines.count, by: 2).map { lines[$0] + " " + lines[$0 + 1] }
        #expect(wanted.count == offsets.count)
        if isPromise { try volume.evictAll() }
        let words =
            ["python3", "-c", RingReader.script, "read", name, flags, "\(size)"]
            + offsets.map { "\($0)" }
        let told = try volume.start(words).wait()
        #expect(
            told.text == wanted.map { "\($0)\n" }.joined(),
            "\(flags), \(size) from \(offsets): \(told)")
    }

    @Test(arguments: DataPath.ofPromises)
    func `who reads a promise by a ring has its last bytes once`(_ dataPath: DataPath) throws {
        try withVolume(dataPath, store: "folder") { volume in
            let end = 5 << 20
            try volume.agent().shell("head -c \(end + 1808) /dev/urandom > big")
            for (flags, size) in [
                ("O_RDONLY", 4_096), ("O_RDONLY", 65_536), ("O_RDONLY|O_DIRECT", 4_096),
            ] {
                // The end twice: who reads it again has it as well.
                try check(
                    volume, "big", flags, size, [end, 0, end, end - 4_096, end], asPromise: true)
            }
            // Who asks so by another call means it.
            let again = """
                import os
                file = os.open("big", os.O_RDONLY)
                assert os.pread(file, 4096, \(end)) == os.pread(file, 2288, \(end)) != b""
                """
            try volume.evictAll()
            let told = try volume.run("python3", "-c", again)
            #expect(told.status == 0, "\(told)")
        }
    }

    @Test(arguments: DataPath.ofPromises)
    func `who reads a file by a ring has its last bytes once`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            try volume.agent().shell("head -c 10000 /dev/urandom > small")
            for flags in ["O_RDONLY", "O_RDWR", "O_RDONLY|O_DIRECT", "O_RDWR|O_DIRECT"] {
                try check(
                    volume, "small", flags, 4_096, [8_192, 0, 8_192, 4_096, 12_288, 8_192],
                    asPromise: false)
            }
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who reads a granted document by a ring has its last bytes once`(_ place: DataPath) throws
    {
        try withOwnerAndApp(place) { both in
            try both.run("grant", "a.txt", "--to", "notes")
            let document = both.app.mountPoint + "/in test/a.txt"
            let script = """
                printf one > part
                for from in 0 1; do
                    tail -c +$((from + 1)) part > rest
                    echo "$(stat -c %s rest) $(sha256sum < rest | cut -d ' ' -f 1)"
                done > wanted
                python3 -c "$1" read "$2" O_RDONLY 4096 0 1 > told
                diff wanted told
                """
            let result = try run(
                ["sh", "-c", script, "sh", RingReader.script, document], directory: both.app.base)
            #expect(result.status == 0, "\(result)")
        }
    }

    /// Small new files are what the daemon would best have past the page cache.
    @Test(arguments: DataPath.posixOfAllUsers)
    func `who writes a file by a ring writes each part behind the one before`(_ dataPath: DataPath)
        throws
    {
        try withVolume(dataPath) { volume in
            for flags in ["O_WRONLY", "O_RDWR", "O_WRONLY|O_APPEND"] {
                // With passthrough a process has to have made two small files before.
                for number in 0..<4 {
                    let written = try volume.run(
                        "python3", "-c",
                        "import os, sys; [open(f'before{n}', 'w').write('x') for n in range(3)]; "
                            + "os.execvp('python3', ['python3'] + sys.argv[1:])",
                        "-c", RingReader.script, "write", "new\(number)",
                        flags + "|O_CREAT|O_TRUNC", "one ", "two ", "three ")
                    #expect(written.status == 0, "\(flags): \(written)")
                    #expect(
                        try volume.run("cat", "new\(number)").text == "one two three ", "\(flags)")
                }
            }
        }
    }
}
