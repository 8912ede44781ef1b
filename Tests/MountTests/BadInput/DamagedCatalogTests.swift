import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime) struct DamagedCatalogTests {
    /// Damage after which nothing of the catalog can be read.
    static let fatal = [
        "dd if=/dev/urandom of=catalog.sqlite bs=100 count=1 conv=notrunc status=none",
        "truncate -s 20000 catalog.sqlite",
        "truncate -s 0 catalog.sqlite",
        "yes 'not a database' | head -c 40000 > catalog.sqlite",
    ]

    @Test(arguments: fatal)
    func `a catalog that cannot be read is named, and nothing is touched`(
        _ damage: String
    ) throws {
        try withBrokenContainer(others: 40) { broken in
            let mountPoint = broken.container.mountPoint
            try broken.damage(damage)
            try broken.expectRefusal(
                "mount", "test", mountPoint, status: EX_DATAERR,
                saying: "catalog.sqlite", "shapeedit container check test")
            #expect(!MountTable.isMounted(mountPoint))
            let check = try broken.expectRefusal(
                "container", "check", "test", status: EX_DATAERR, saying: "catalog.sqlite")
            #expect(
                !check.errorText.contains("shapeedit container check"),
                "check advises to run check: \(check)")
        }
    }

    /// Check called it sound, and no mount succeeded.
    @Test(
        .enabled(if: isInstalled("sqlite3"), "needs sqlite3"),
        arguments: [
            "drop table bookmark", "alter table bookmark rename column low to lower",
            "alter table recent add column other integer", "pragma user_version = 1",
        ])
    func `a catalog whose tables are others than its version has is named`(
        _ statement: String
    ) throws {
        try withBrokenContainer { broken in
            let changed = try broken.catalog(statement)
            try #require(changed.status == 0, "\(changed)")
            let words = statement.split(separator: " ")
            let problem =
                words[0] == "pragma"
                ? "is not what it was" : "the table \(words[2])"
            try broken.expectRefusal(
                "mount", "test", broken.container.mountPoint, status: EX_DATAERR,
                saying: problem, "shapeedit container check test")
            try broken.expectRefusal(
                "container", "check", "test", status: EX_DATAERR, saying: problem,
                "put a backup of it back")
        }
    }

    @Test func `a damaged page in the middle is found by check and never ends in a crash`() throws {
        try withBrokenContainer(others: 200) { broken in
            let mountPoint = broken.container.mountPoint
            try broken.damage("cp catalog.sqlite ../good")
            let pages = try run(["stat", "-c", "%s", "\(broken.folder)/catalog.sqlite"]).text
            let count = (Int(pages.dropLast()) ?? 0) / 4096
            try #require(count > 10)
            for page in [1, count / 3, count / 2, count / 2 + 1, count - 2] {
                try broken.damage(
                    "cp ../good catalog.sqlite; dd if=/dev/urandom of=catalog.sqlite bs=4096"
                        + " seek=\(page) count=1 conv=notrunc status=none")
                let before = try broken.listing()
                let check = try broken.container.check()
                #expect(check.status == Int(EX_DATAERR), "page \(page): \(check)")
                let text = check.text + check.errorText
                #expect(text.contains("catalog.sqlite"), "page \(page): \(check)")
                #expect(try broken.listing() == before, "check changed the folder, page \(page)")
                let mount = try broken.container.command("mount", "test", mountPoint)
                // A page that only old versions or attributes need may go unnoticed for a while.
                #expect(
                    mount.status == Int(EX_DATAERR) || mount.status == 0, "page \(page): \(mount)")
                if mount.status == 0 {
                    let process = try #require(try broken.container.status().pid)
                    _ = try run(["ls", "-lR", mountPoint])
                    #expect(Container.isAlive(process), "page \(page): the daemon died")
                    try broken.container.unmount()
                    try broken.damage("rm -f catalog.sqlite-wal catalog.sqlite-shm")
                }
            }
        }
    }

    @Test func `a container made by a newer version is left alone`() throws {
        try withBrokenContainer(others: 200) { broken in
            let change = try broken.catalog("pragma user_version = 99")
            try #require(change.status == 0, "\(change)")
            for words in [
                ["mount", "test", broken.container.mountPoint], ["container", "check", "test"],
            ] {
                let before = try broken.listing()
                let result = try broken.container.command(words)
                #expect(result.status == Int(EX_CONFIG), "\(words): \(result)")
                for word in ["newer", "99", "update ShapeEdit"] {
                    #expect(result.errorText.contains(word), "\(words): \(result)")
                }
                #expect(try broken.listing() == before)
            }
            #expect(!MountTable.isMounted(broken.container.mountPoint))
        }
    }
}

extension BrokenContainer {
    /// Runs a statement on the catalog with another program.
    func catalog(_ statement: String) throws -> ProgramResult {
        // user_version is at byte 60 of the file, big-endian; this needs no sqlite3.
        try run(
            [
                "sh", "-c",
                "command -v sqlite3 > /dev/null && exec sqlite3 catalog.sqlite \"$0\"; "
                    + "printf '\\0\\0\\0\\143' | dd of=catalog.sqlite bs=1 seek=60 conv=notrunc",
                statement,
            ], directory: folder)
    }
}
