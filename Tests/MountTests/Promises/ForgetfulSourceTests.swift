import Glibc
import Probing
import TestSupport
import Testing

/// Imports from file systems whose numbers of files do not last: FAT, and most of FUSE.
@Suite(.oneAtATime, .enabled(if: isInstalled("pkg-config"), "needs pkg-config"))
struct ForgetfulSourceTests {
    /// Shows a folder. The number of a file is its name's first letter, and another one, perhaps another file's,
    /// when the folder's name with `.again` behind it is there, too: as if the disk had been mounted again.
    private static let program = """
        #define _GNU_SOURCE
        #define FUSE_USE_VERSION 31
        #include <fuse.h>
        #include <dirent.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <unistd.h>
        static char root[4000];
        static char *at(char *place, const char *path) { sprintf(place, "%s%s", root, path); return place; }
        static void *start(struct fuse_conn_info *connection, struct fuse_config *configuration) {
            configuration->use_ino = 1;
            configuration->entry_timeout = configuration->attr_timeout = 0;
            return 0;
        }
        static int look(const char *path, struct stat *status, struct fuse_file_info *file) {
            char place[8000];
            if (lstat(at(place, path), status)) return -errno;
            status->st_ino = path[1] ? path[1] ^ (access(at(place, ".again"), F_OK) ? 0 : 3) : 1;
            return 0;
        }
        static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *file, enum fuse_readdir_flags flags) {
            char place[8000];
            DIR *directory = opendir(at(place, path));
            if (!directory) return -errno;
            struct dirent *entry;
            while ((entry = readdir(directory))) fill(buffer, entry->d_name, 0, 0, 0);
            closedir(directory);
            return 0;
        }
        static int take(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
            char place[8000];
            int descriptor = open(at(place, path), O_RDONLY);
            if (descriptor < 0) return -errno;
            int count = pread(descriptor, bytes, size, offset);
            close(descriptor);
            return count;
        }
        static const struct fuse_operations calls = {
            .init = start, .getattr = look, .readdir = list, .read = take};
        int main(int count, char **words) {
            snprintf(root, sizeof root, "%s", words[1]);
            words[1] = words[0];
            return fuse_main(count - 1, words + 1, &calls, 0);
        }
        """

    /// Runs `body` with a volume, a folder, and where that is shown.
    private func withSource(_ body: (Volume, _ folder: String, _ source: String) throws -> Void)
        throws
    {
        let place = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(place) }
        chmod(place, 0o755)
        let (folder, source) = ("\(place)/folder", "\(place)/source")
        for path in [folder, source] { mkdir(path, 0o755) }
        let line = """
            printf '%s' "$0" | cc -w -x c - -o "$1" $(pkg-config --cflags --libs fuse3)
            """
        let compiled = try run(["sh", "-c", line, Self.program, "\(place)/program"])
        try #require(compiled.status == 0, "\(compiled)")
        let server = try RunningProgram(
            ["\(place)/program", folder, source, "-f"].map { Array($0.utf8) })
        defer {
            MountTable.detach(source)
            server.kill(signal: SIGKILL)
            _ = server.wait(seconds: 60)
        }
        waitUntil { MountTable.isMounted(source) }
        try withVolume(.passthrough) { volume in try body(volume, folder, source) }
    }

    @Test func `what is read and edited keeps its name where the source's numbers do not last`()
        throws
    {
        try withSource { volume, folder, source in
            let agent = try volume.agent()
            // a's number becomes b's, and that of the others one that nothing had.
            agent.shell("cd \(folder); for name in a b d h; do echo $name > $name; done")
            try volume.shapeedit("import", "--promise", source, "@in")
            #expect(agent.content("in/a") == "a\n")
            agent.shell("echo mine > in/b")
            agent.shell("touch \(folder).again")
            #expect(agent.content("in/d") == "d\n")
            let told = try volume.shapeedit("import", "--refresh", "@in")
            #expect(told.text.contains(" 0 new, 0 changed, 0 removed"), "\(told)")
            #expect(agent.content("in/a") == "a\n")
            #expect(agent.content("in/b") == "mine\n")
            #expect(agent.content("in/h") == "h\n")
            // A change is still one.
            agent.shell("cd \(folder); echo other > h; echo new > i; rm d")
            try volume.shapeedit("import", "--refresh", "@in")
            #expect(agent.content("in/h") == "other\n")
            #expect(agent.content("in/i") == "new\n")
        }
    }
}
