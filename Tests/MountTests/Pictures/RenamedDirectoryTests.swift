import Glibc
import Probing
import TestSupport
import Testing

/// Entries of the desktop's cache below directories that are renamed.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct RenamedDirectoryTests {
    /// Stores slides in a new folder and waits for their entries.
    private func fill(
        _ desk: PictureDesk, _ folder: String, count: Int = 24, from first: Int = 0
    ) throws {
        let known = try desk.entries().count
        desk.agent.makeDirectory(ByteString(folder))
        for number in 0..<count {
            desk.agent.store(
                ByteString("\(folder)/\(number).slide"), PictureDesk.slide(first + number))
        }
        #expect(try waitUntil { try desk.entries().count == known + 4 * count })
    }

    @Test func `a directory that is renamed again at once keeps its entries`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            try fill(desk, "one")
            desk.agent.rename("one", "two")
            desk.agent.rename("two", "three")
            for name in ["three/0.slide", "three/23.slide"] {
                #expect(try waitUntil { try desk.isRight(name) })
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 24 })
            desk.agent.rename("three", "four")
            desk.agent.rename("four", "three")
            desk.agent.rename("three/7.slide", "three/seven.slide")
            for name in ["three/0.slide", "three/seven.slide", "three/23.slide"] {
                #expect(try waitUntil { try desk.isRight(name) })
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 24 })
        }
    }

    @Test func `a directory that is renamed several times at once has its entries written once`()
        throws
    {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let (hold, written) = ("\(desk.container.base)/hold", "\(desk.container.base)/written")
            // Entries wait for the file that holds them, and are counted in another.
            try desk.remount {
                try desk.container.preload(
                    """
                    #define _GNU_SOURCE
                    #include <dlfcn.h>
                    #include <fcntl.h>
                    #include <string.h>
                    #include <unistd.h>
                    int rename(const char *from, const char *to) {
                        int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
                        if (strcmp(to + strlen(to) - 4, ".png")) return next(from, to);
                        while (!access("\(hold)", F_OK)) usleep(1000);
                        int file = open("\(written)", O_WRONLY | O_CREAT | O_APPEND, 0600);
                        write(file, "x", 1);
                        close(file);
                        return next(from, to);
                    }
                    """)
            }
            for folder in ["first", "one", "last"] { try fill(desk, folder, count: 2) }
            let before = try PictureDesk.read(written).count
            try PictureDesk.write([], to: hold)
            let names = [("first", "1st"), ("one", "two"), ("two", "three"), ("three", "four")]
            for (old, new) in names + [("last", "end")] {
                desk.agent.rename(ByteString(old), ByteString(new))
            }
            unlink(hold)
            for folder in ["1st", "four", "end"] {
                for number in 0..<2 {
                    #expect(try waitUntil { try desk.isRight("\(folder)/\(number).slide") })
                }
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 6 })
            #expect(try PictureDesk.read(written).count == before + 4 * 6)
        }
    }

    @Test func `the entries of a directory that is renamed are not written again`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            try fill(desk, "one", count: 3)
            // As long as they are open, no other file has their numbers.
            var entries: [Int32] = []
            defer { for entry in entries { close(entry) } }
            func open() throws { entries += try desk.entries().map { Glibc.open($0, O_RDONLY) } }
            func kept() -> Int {
                entries.count { entry in
                    var status = stat()
                    return fstat(entry, &status) == 0 && status.st_nlink == 1
                }
            }
            try open()
            // A name with escapes, one that is longer, and one below another.
            desk.agent.makeDirectory("above")
            var old = "one"
            for new in ["to o", "a longer name", "above/x"] {
                desk.agent.rename(ByteString(old), ByteString(new))
                old = new
                for number in 0..<3 {
                    #expect(try waitUntil { try desk.isRight("\(new)/\(number).slide") })
                }
                #expect(try waitUntil { try desk.entries().count == 4 * 3 })
                #expect(kept() == 4 * 3)
            }
            // There is no room for that in them.
            let long = String(repeating: "ü", count: 120)
            desk.agent.rename("above", ByteString(long))
            for number in 0..<3 {
                #expect(try waitUntil { try desk.isRight("\(long)/x/\(number).slide") })
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 3 })
            #expect(kept() == 0)
            // Those of a document that has changed meanwhile are.
            try open()
            desk.agent.rename(ByteString(long), "two")
            desk.agent.store("two/x/0.slide", PictureDesk.slide(99))
            for number in 0..<3 {
                #expect(try waitUntil { try desk.isRight("two/x/\(number).slide") })
            }
            #expect(try waitUntil { try desk.entries().count == 4 * 3 })
            #expect(kept() == 4 * 2)
        }
    }

    @Test func `an entry that cannot be renamed is written, whatever is there by the new path`()
        throws
    {
        try withPictures { (desk) throws in
            try fill(desk, "one", count: 1)
            let (old, new) = (
                try desk.entries(of: "one/0.slide"), try desk.entries(of: "two/0.slide")
            )
            // One that is another file's as well stays as it is.
            let other = "\(desk.container.base)/other"
            #expect(link(old[1], other) == 0)
            try PictureDesk.write([1], to: new[1])
            desk.agent.rename("one", "two")
            let picture = desk.picture("two/0.slide", 256).bytes.suffix(200)
            #expect(
                waitUntil {
                    PictureDesk.readIfThere(new[1])?.suffix(200).elementsEqual(picture) == true
                })
            #expect(try waitUntil { try desk.entries() == Set(new) })
            #expect(
                try run(["grep", "-c", "/one/0.slide", other]).text == "1\n")
        }
    }

    @Test func `an entry in whose place another program puts one meanwhile is not taken along`()
        throws
    {
        try withPictures { (desk) throws in
            let others = "\(desk.container.base)/others"
            // The moment at which an address has been written over the former.
            try desk.remount {
                try desk.container.preload(
                    """
                    #define _GNU_SOURCE
                    #include <dlfcn.h>
                    #include <stdio.h>
                    #include <string.h>
                    #include <unistd.h>
                    typedef ssize_t Write(int, const void *, size_t, off_t);
                    static ssize_t replace(Write *next, int file, const void *bytes, size_t count,
                                           off_t place) {
                        ssize_t done = next(file, bytes, count, place);
                        char link[64], path[4096];
                        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
                        ssize_t length = readlink(link, path, sizeof path - 1);
                        if (length < 4) return done;
                        path[length] = 0;
                        if (strstr(path, "/large/") && !strcmp(path + length - 4, ".png"))
                            rename("\(others)", path);
                        return done;
                    }
                    ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
                        return replace(dlsym(RTLD_NEXT, "pwrite"), file, bytes, count, place);
                    }
                    ssize_t pwrite64(int file, const void *bytes, size_t count, off_t place) {
                        return replace(dlsym(RTLD_NEXT, "pwrite64"), file, bytes, count, place);
                    }
                    """)
            }
            try fill(desk, "one", count: 1)
            try PictureDesk.write([1], to: others)
            desk.agent.rename("one", "two")
            #expect(waitUntil { access(others, F_OK) != 0 })
            let new = try desk.entries(of: "two/0.slide")
            #expect(try waitUntil { try desk.entries() == Set(new) })
            let picture = desk.picture("two/0.slide", 256).bytes.suffix(200)
            #expect(
                waitUntil {
                    PictureDesk.readIfThere(new[1])?.suffix(200).elementsEqual(picture) == true
                })
        }
    }

    @Test func `documents whose directories change places have their own pictures`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            let agent = desk.agent
            let names = (0..<4).map { "\($0).slide" }
            for (number, folder) in ["one", "two"].enumerated() {
                try fill(desk, folder, count: 4, from: 100 * number)
                // Only the picture tells them apart.
                for name in names {
                    agent.setTimes(
                        ByteString("\(folder)/\(name)"), accessed: .now,
                        modified: .at(seconds: 1_000_000, nanoseconds: 5))
                }
                // Their entries are written anew; what comes next is counted.
                for name in names {
                    #expect(try waitUntil { try desk.isRight("\(folder)/\(name)") })
                }
                #expect(try waitUntil { try desk.entries().count == 16 * (number + 1) })
            }
            let documents = ["one", "two"].flatMap { folder in names.map { "\(folder)/\($0)" } }
            for name in documents { #expect(try waitUntil { try desk.isRight(name) }) }
            let exchange = 2
            agent.rename("one", "two", flags: exchange)
            for name in documents { #expect(try waitUntil { try desk.isRight(name) }) }
            agent.rename("one", "away")
            agent.rename("two", "one")
            agent.rename("away", "two")
            for name in documents { #expect(try waitUntil { try desk.isRight(name) }) }
            agent.rename("one/0.slide", "two/0.slide", flags: exchange)
            for name in documents { #expect(try waitUntil { try desk.isRight(name) }) }
            #expect(try waitUntil { try desk.entries().count == 4 * documents.count })
        }
    }

    @Test func `nothing stays of what was removed from a directory that was just renamed`() throws {
        try withPictures { (desk) throws in
            let agent = desk.agent
            try fill(desk, "busy")
            try fill(desk, "one")
            // Whoever looks at this has not come to what follows.
            agent.rename("busy", "busier")
            agent.rename("one", "two")
            agent.makeDirectory("other")
            for number in 0..<24 {
                let name = ByteString("two/\(number).slide")
                if number % 2 == 0 {
                    agent.unlink(name)
                } else {
                    agent.rename(name, ByteString("other/\(number).slide"))
                }
            }
            #expect(try waitUntil { try desk.entries().count == 4 * (24 + 12) })
            agent.rename("busier", "busy")
            agent.rename("other", "another")
            for number in 0..<12 { agent.unlink(ByteString("another/\(2 * number + 1).slide")) }
            #expect(try waitUntil { try desk.entries().count == 4 * 24 })
        }
    }

    @Test func `entries that others have made follow a directory that is renamed again at once`()
        throws
    {
        try withPictures { (desk) throws in
            let agent = desk.agent
            agent.makeDirectory("one")
            agent.store("one/x.data", "data")
            agent.store("a.slide", PictureDesk.slide(1))
            #expect(try waitUntil { try desk.entries().count == 4 })
            func place(_ name: String) throws -> String { try desk.entries(of: name)[0] }
            try PictureDesk.write(desk.picture("a.slide", 128).bytes, to: place("one/x.data"))
            agent.rename("one", "two")
            agent.rename("two", "three")
            #expect(try waitUntil { try access(place("three/x.data"), F_OK) == 0 })
            #expect(try waitUntil { try desk.entries().count == 5 })
        }
    }

    @Test func `nothing stays of what was removed right before the end`() throws {
        try #require(isInstalled("gio"))
        try withPictures { (desk) throws in
            try desk.remount { try desk.container.preload(Container.slowRename) }
            let agent = desk.agent
            // Much less than is looked at in the two seconds that there are at the end.
            try fill(desk, "busy", count: 1)
            for folder in ["one", "two"] { try fill(desk, folder, count: 4) }
            // Each of its entries takes a while: whoever looks at this has not come to what follows.
            agent.rename("busy", "busier")
            agent.rename("two", "three")
            for number in 0..<4 {
                agent.unlink(ByteString("one/\(number).slide"))
                agent.unlink(ByteString("three/\(number).slide"))
            }
            agent.rename("busier", "busy")
            try desk.remount { () throws in
                #expect(try waitUntil { try desk.entries().count == 4 })
            }
            _ = try run(["ls", "\(desk.container.mountPoint)/busy"])
            #expect(try waitUntil { try desk.isRight("busy/0.slide") })
        }
    }
}
