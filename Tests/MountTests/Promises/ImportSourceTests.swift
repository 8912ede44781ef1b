import Glibc
import Probing
import TestSupport
import Testing

/// What is said of the source of an import: of one that is none, and of one that cannot be asked for.
@Suite struct ImportSourceTests {
    /// Runs `body` with a volume and a folder beside the mount.
    private func withSource(_ body: (Volume, Agent, String) throws -> Void) throws {
        try withVolume(.passthrough) { volume in
            let source = "\(try #require(volume.container).base)/home/source"
            let agent = try volume.agent()
            agent.shell("mkdir -p \(source); echo first > \(source)/a.txt")
            try body(volume, agent, source)
        }
    }

    /// Attributes of files that cannot be read: those that tell of an import.
    private static let lostSource = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <string.h>
        #include <sys/types.h>
        ssize_t getxattr(const char *path, const char *name, void *value, size_t size) {
            ssize_t (*next)(const char *, const char *, void *, size_t) = dlsym(RTLD_NEXT, "getxattr");
            if (strcmp(name, "user.shapeedit.source")) return next(path, name, value, size);
            errno = EIO;
            return -1;
        }
        """

    @Test func `a refresh that cannot ask what was imported says why`() throws {
        try withSource { volume, agent, source in
            try volume.shapeedit("import", "--promise", source, "@in")
            let binary = try BuiltPrograms.shapeedit()
            agent.shell("mkdir empty")
            let nothing = try volume.run(binary, "import", "--refresh", "empty")
            #expect(nothing.errorText.contains("nothing was imported"), "\(nothing)")
            try #require(volume.container).preload(Self.lostSource)
            let failed = try volume.run(binary, "import", "--refresh", "in")
            #expect(failed.errorText.contains("in: Input/output error"), "\(failed)")
        }
    }

    @Test(.enabled(if: DataPath.isPrivileged, "needs root"))
    func `a refresh whose mount goes away says that`() throws {
        try withSource { volume, agent, source in
            agent.shell("mkdir \(source)/d; cd \(source)/d; touch $(seq 20000)")
            try volume.shapeedit("import", "--promise", source, "@in")
            agent.shell("touch \(source)/d/*")
            let container = try #require(volume.container)
            let refresh = try volume.start(
                [try BuiltPrograms.shapeedit(), "import", "--refresh", "\(volume.directory)/in"])
            func report() throws -> String {
                try volume.run("getfattr", "--only-values", "-n", "user.shapeedit.import", "in")
                    .text
            }
            try waitUntil { try report().contains("complete false\n") }
            volume.endAgents()
            let gone = try run(["umount", "-l", container.mountPoint])
            #expect(gone.status == 0, "\(gone)")
            let told = refresh.wait(seconds: 60)
            #expect(told.status == Int(EX_UNAVAILABLE), "\(told)")
            #expect(told.errorText.contains("/in: its mount went away"), "\(told)")
            #expect(container.waitForEnd(of: try #require(container.daemon)))
            try volume.remountAfterCrash()
        }
    }

    @Test(arguments: [
        "https://me:secret@host/x", "S4://bucket", "file:///tmp", "webdav://host",
        "davs:/me:secret@host", "me:secret@host/x",
    ])
    func `an address of another kind is told which there are`(_ source: String) throws {
        try withVolume(.passthrough) { volume in
            let told = try volume.shapeedit("import", "--promise", source, "@in", fails: EX_USAGE)
            #expect(told.errorText.contains("begins with folder:, s3://, dav:// or davs://"))
            #expect(!told.errorText.contains("secret"))
            _ = try volume.agent().status("in", fails: ENOENT)
        }
    }

    @Test func `a path that looks like an address and cannot be followed is told as paths are`()
        throws
    {
        try withSource { volume, agent, source in
            agent.shell("mkdir \(source)/a:; ln -s loop \(source)/a:/loop")
            let path = "\(source)/a://loop"
            let told = try volume.shapeedit("import", "--promise", path, "@in", fails: EX_NOINPUT)
            #expect(told.errorText.contains("\(path): "), "\(told)")
            let secret = "\(source)/a://loop/me:secret@host"
            let other = try volume.shapeedit(
                "import", "--promise", secret, "@in", fails: EX_NOINPUT)
            #expect(!other.errorText.contains("secret"), "\(other)")
        }
    }
}
