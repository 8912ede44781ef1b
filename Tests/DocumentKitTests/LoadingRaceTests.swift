import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// Open documents whose file others write in the moment when it is loaded.
@Suite(.oneAtATime) struct LoadingRaceTests {
    @Test(arguments: places)
    func `what others write while it is loaded is loaded too`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            // While it is used in the hook nobody else uses it.
            nonisolated(unsafe) let agent = try volume.agent()
            agent.store("note", "one")
            let document = Document<HookedText>("\(volume.directory)/note", quietTime: nil)
            // By then it has been read.
            HookedText.onLoading { agent.store("note", "two") }
            try document.open()
            expectSoon("opening") { document.contents?.text == "two" }
            HookedText.onLoading { agent.store("note", "four") }
            agent.store("note", "three")
            expectSoon("looking") { document.contents?.text == "four" }
            try document.close()
        }
    }

    @Test(arguments: places, [FileAccess.write, .writeMoving])
    func `a document that may be made is opened though its file is moved away meanwhile`(
        _ place: DataPath, _ access: FileAccess
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            try store(path, "old")
            let isHeld = Monitor(false)
            Threads.start("holder") {
                try? FileCoordinator().coordinate([FileIntent(path, access)]) { _ in
                    isHeld.signal { $0 = true }
                    // By then the document waits for its claim.
                    usleep(500_000)
                    _ = rename(path, path + ".away")
                }
            }
            let _: Bool? = isHeld.wait(until: .max) { $0 ? true : nil }
            let opened = try OpenedDocument(path, creating: Text("new"))
            // In a mount who waits for a claim follows a move that was announced, and opens it there.
            let isFollowed = opened.document.path == path + ".away"
            #expect(opened.text == (isFollowed ? "old" : "new"))
            #expect(isFollowed == (place != .plain && access == .writeMoving))
            try opened.set("newer")
            try opened.document.close()
            #expect(text(of: path) == (isFollowed ? nil : "newer"))
            #expect(text(of: path + ".away") == (isFollowed ? "newer" : "old"))
        }
    }

    /// Who looks at that moment misses the file where it was, and does not wait there for it to come back.
    @Test func `what is saved and moved at once is loaded at once`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            var name: ByteString = "note"
            agent.store("note", "")
            let opened = try OpenedDocument("\(volume.directory)/note")
            var times: [UInt64] = []
            for number in 0..<16 {
                let text = "\(number)"
                let moved: ByteString = "note\(number)"
                agent.store(name, ByteString(text))
                // The document is told, and on its way to the file.
                usleep(1_000 + 200 * UInt32(number))
                agent.rename(name, moved)
                let start = MonotonicClock.now
                expectSoon { opened.text == text }
                times.append(MonotonicClock.now - start)
                expectSoon { opened.document.path == "\(volume.directory)/\(moved)" }
                name = moved
            }
            #expect(times.count { $0 > 150_000_000 } < 10, "\(times)")
            try opened.document.close()
        }
    }

    @Test func `a document is open though its mount goes away when it has been read`() throws {
        try withVolume(.passthrough) { volume in
            // While it is used in the hook nobody else uses it.
            nonisolated(unsafe) let container = try #require(volume.container)
            let path = "\(volume.directory)/note"
            try store(path, "one")
            let document = Document<HookedText>(path, quietTime: nil)
            HookedText.onLoading { try? container.killDaemon() }
            try document.open()
            #expect(document.state == [] && document.contents?.text == "one")
            try container.mount()
            try store(path, "two")
            expectSoon { document.contents?.text == "two" }
            try document.change { $0.text = "three" }
            try document.close()
            #expect(text(of: path) == "three")
        }
    }

    /// Where there is that file, the document is written when it has been read to its end, and its state is
    /// told late.
    private static let lateWrites = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int written;
        __attribute__((constructor)) static void begin(void) { setlinebuf(stdout); }
        ssize_t read(int file, void *bytes, size_t count) {
            ssize_t result = syscall(SYS_read, file, bytes, count);
            char link[64], path[4096] = "";
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            if (result == 0 && readlink(link, path, sizeof path - 1) > 5
                && !strcmp(path + strlen(path) - 5, "/note") && !unlink("../late")) {
                unsetenv("LD_PRELOAD");
                written = system("printf two > note") == 0;
            }
            return result;
        }
        int fstat(int file, struct stat *status) {
            int result = syscall(SYS_newfstatat, file, "", status, 0x1000);
            if (written) usleep(300000);
            written = 0;
            return result;
        }
        """

    @Test(.enabled(if: isInstalled("cc"), "needs cc"), arguments: places)
    func `what is written after a file was read is not taken for what was read`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let base = "\(volume.directory)/.."
            let compile = "printf '%s' \"$0\" | cc -shared -fPIC -x c - -o ../late.so"
            let compiled = try volume.run("sh", "-c", compile, Self.lateWrites)
            try #require(compiled.status == 0, "\(compiled)")
            try volume.agent().store("note", "one")
            try store("\(base)/late", "")
            // In a mount what is written shows when it is closed.
            let line = """
                out=$(mktemp)
                until [ $((n += 1)) = 100 ] || grep -q two $out; do echo; sleep 0.1; done \\
                    | LD_PRELOAD=../late.so '\(try BuiltPrograms.noteTaker())' note > $out
                cat $out; rm $out
                """
            let result = try volume.run("sh", "-c", line)
            #expect(result.status == 0, "\(result)")
            #expect(access("\(base)/late", F_OK) != 0)
            #expect(result.text.hasSuffix("two\n"), "\(result)")
        }
    }
}
