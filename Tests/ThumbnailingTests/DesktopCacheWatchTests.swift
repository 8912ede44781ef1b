import Glibc
import Probing
import Testing
import Thumbnailing

/// What is known of a cache that others write, too.
struct DesktopCacheWatchTests {
    private let folder: TemporaryFolder
    private let cache: DesktopCache
    private let watch: DesktopCacheWatch

    init() throws {
        folder = try TemporaryFolder()
        cache = DesktopCache(folder: folder.path + "/cache/thumbnails")
        watch = try DesktopCacheWatch(cache)
    }

    /// Names as those of entries.
    private func name(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits + ".png"
    }

    private func entry(_ size: DesktopCache.Size, _ number: Int) -> String {
        "\(cache.folder)/\(size.rawValue)/\(name(number))"
    }

    private func write(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0, "\(path): \(errno)")
        close(file)
    }

    private func run(_ script: String) throws {
        _ = try Surroundings.run("mkdir -p '\(cache.folder)' && cd '\(cache.folder)' && " + script)
    }

    @Test func `files without entries are known, and those that get some`() throws {
        // Nothing is there, not even the cache.
        #expect(!watch.mayHave(name(1)))
        try run("mkdir normal large && touch normal/\(name(1)) large/\(name(2))")
        #expect(watch.mayHave(name(1)) && watch.mayHave(name(2)) && !watch.mayHave(name(3)))
        // As those are written that may be read meanwhile, of another size, and in place.
        try run("touch normal/part && mv normal/part normal/\(name(3)) && mkdir x-large")
        #expect(watch.mayHave(name(3)) && !watch.mayHave(name(4)))
        try run("touch x-large/\(name(4)) && rm normal/* && mv large/\(name(2)) large/\(name(5))")
        #expect(watch.mayHave(name(4)) && watch.mayHave(name(5)))
        #expect(!watch.mayHave(name(1)) && !watch.mayHave(name(2)))
    }

    @Test func `a folder that comes from elsewhere brings entries`() throws {
        try run("mkdir ../other && touch ../other/\(name(1)) && true")
        #expect(!watch.mayHave(name(1)))
        try run("mv ../other normal")
        #expect(watch.mayHave(name(1)))
        try run("mv normal ../other && mkdir normal && touch normal/\(name(2))")
        #expect(watch.mayHave(name(2)) && !watch.mayHave(name(1)))
        // All of it.
        try run("cd .. && mv thumbnails former && mkdir -p thumbnails/normal")
        #expect(!watch.mayHave(name(2)))
        try run("cd .. && rmdir thumbnails/normal thumbnails && mv former thumbnails")
        #expect(watch.mayHave(name(2)))
    }

    @Test func `what was not told is looked at`() throws {
        try run("mkdir normal")
        #expect(!watch.mayHave(name(1)))
        let most =
            Int(
                try Surroundings.run("cat /proc/sys/fs/inotify/max_queued_events").output
                    .filter(\.isNumber)) ?? 16_384
        try #require(most < 1_000_000)
        // More than the kernel keeps, and what counts comes last.
        for number in 0...most / 2 {
            try write(entry(.normal, 2))
            unlink(entry(.normal, 2))
            if number == most / 2 { try write(entry(.normal, 1)) }
        }
        #expect(watch.mayHave(name(1)) && !watch.mayHave(name(2)))
        #expect(watch.take())
    }

    @Test func `the entries of a file are removed whoever made them, and whenever`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("desktop cache watch test: seed \(seed)")
        var random = SplitMix(seed: seed)
        let paths = (0..<4).map { "/tmp/document \($0)" }
        let sizes = DesktopCache.Size.allCases
        let names = try paths.map {
            try Surroundings.run("printf %s 'file://\($0)' | sed 's/ /%20/' | md5sum").output
                .prefix(32)
                + ".png"
        }
        let folders = [cache.folder] + sizes.map { "\(cache.folder)/\($0.rawValue)" }
        let places = sizes.flatMap { size in
            names.map { "\(cache.folder)/\(size.rawValue)/\($0)" }
        }
        func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }
        mkdir(folder.path + "/cache", 0o700)
        for _ in 0..<3_000 {
            let place = places[random.below(places.count)]
            switch random.below(10) {
            case 0...3:
                for folder in folders { mkdir(folder, 0o700) }
                let file = open(place, O_WRONLY | O_CREAT, 0o600)
                if file >= 0 { close(file) }
            case 4: unlink(place)
            case 5: rename(place, places[random.below(places.count)])
            case 6:
                let chosen = folders[random.below(folders.count)]
                rename(chosen, folder.path + "/cache/other \(folders.firstIndex(of: chosen) ?? 0)")
            case 7:
                let number = random.below(folders.count)
                rename(folder.path + "/cache/other \(number)", folders[number])
            default:
                let number = random.below(paths.count)
                let had = sizes.contains {
                    isThere("\(cache.folder)/\($0.rawValue)/\(names[number])")
                }
                #expect(try cache.remove(path: paths[number], ifIn: watch) == had)
                #expect(watch.mayHave(String(names[number])) == false)
                let has = sizes.contains {
                    isThere("\(cache.folder)/\($0.rawValue)/\(names[number])")
                }
                try #require(!has, "seed \(seed)")
            }
        }
    }
}
