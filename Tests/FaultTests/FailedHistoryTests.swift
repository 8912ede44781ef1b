import TestSupport
import Testing

/// The states to go back to, where they cannot be read for a moment.
@Suite(.oneAtATime) struct FailedHistoryTests {
    @Test func `a state that cannot be read for a moment is not given up`() throws {
        let container = try Container()
        defer { container.remove() }
        let file = "\(container.base)/a.shape"
        func title() throws -> String { try container.command("get", file, "title").text }
        for words in [
            ["new", file], ["set", file, "title=one"], ["set", file, "title=two"],
        ] {
            #expect(try container.command(words).status == 0)
        }
        let former = container.additionalEnvironment
        try container.preload(Self.failingReads(of: "1"))
        let failed = try container.command("undo", file)
        container.additionalEnvironment = former
        #expect(failed.status != 0 && !failed.errorText.contains("damaged"), "\(failed)")
        #expect(try title().contains("two"))

        let undone = try container.command("undo", file)
        #expect(undone.status == 0 && undone.errorText.isEmpty, "\(undone)")
        #expect(try title().contains("one"))
    }

    @Test(arguments: [false, true])
    func `states are kept while their list cannot be read`(_ isMounted: Bool) throws {
        let container = try Container()
        defer { container.remove() }
        if isMounted { try container.mount() }
        let file = (isMounted ? container.mountPoint : container.base) + "/a.shape"
        func title() throws -> String { try container.command("get", file, "title").text }
        for words in [
            ["new", file], ["set", file, "title=one"], ["set", file, "title=two"],
        ] {
            #expect(try container.command(words).status == 0)
        }
        let former = container.additionalEnvironment
        try container.preload(Self.failingReads(of: "steps"))
        let undone = try container.command("undo", file)
        #expect(
            undone.status != 0 && undone.errorText.contains("its history in"), "\(undone)")
        #expect(try container.command("history", file).status != 0)
        #expect(try title().contains("two"))
        // What is typed is saved none the less.
        let edited = try container.command("set", file, "title=three")
        #expect(edited.status == 0, "\(edited)")
        // A mount has the versions.
        #expect(
            isMounted
                ? edited.errorText.isEmpty
                : edited.errorText.contains("it cannot be undone as long as its history in"),
            "\(edited)")
        container.additionalEnvironment = former
        #expect(try title().contains("three"))
        for expected in ["two", "one"] {
            let undone = try container.command("undo", file)
            #expect(undone.status == 0 && undone.errorText.isEmpty, "\(undone)")
            #expect(try title().contains(expected))
        }
        for expected in ["two", "three"] {
            #expect(try container.command("redo", file).status == 0)
            #expect(try title().contains(expected))
        }
    }

    /// read(2) of a file of a history fails for want of memory.
    private static func failingReads(of name: String) -> String {
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        ssize_t read(int file, void *bytes, size_t count) {
            ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            path[length < 0 ? 0 : length] = 0;
            char *name = strrchr(path, '/');
            if (!strstr(path, "/history/") || strcmp(name, "/\(name)")) return next(file, bytes, count);
            errno = ENOMEM;
            return -1;
        }
        """
    }
}
