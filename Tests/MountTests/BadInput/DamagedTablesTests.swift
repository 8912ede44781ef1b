import Glibc
import Probing
import TestSupport
import Testing

/// A statement that damages the catalog as SQLite alone would never notice.
struct TableDamage: Sendable, CustomTestStringConvertible {
    /// What is wrong then.
    var testDescription: String
    /// The damage; `ITEM(x)` stands for the number of the item that is called x.
    var statement: String
    /// What the check has to say.
    var says: [String]
    /// Where documents are after the repair, if not where they were.
    var moved: [String: String] = [:]
}

@Suite(.oneAtATime, .enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"))
struct DamagedTablesTests {
    static let damages = [
        TableDamage(
            testDescription: "a name in no directory",
            statement: "update name set parent = 99999 where item = ITEM(a)",
            says: ["a was in a missing directory", "it is a at the root now"]),
        TableDamage(
            testDescription: "a name in no directory, which is taken at the root",
            statement: """
                update name set parent = 99999 where item = ITEM(b);
                update name set name = cast('b' as blob) where item = ITEM(f1)
                """,
            says: ["b was in a missing directory", "it is b~1 at the root now"],
            moved: ["folder/b": "b~1", "f1": "b"]),
        TableDamage(
            testDescription: "a name of nothing, and an item without a name",
            statement: "update name set item = 99999 where item = ITEM(f1)",
            says: ["f1 led to a missing item 99999", "had no name; it is lost+"],
            moved: ["f1": "lost+ITEM(f1)"]),
        TableDamage(
            testDescription: "an item without a name, and the name for lost ones is taken",
            statement: """
                delete from name where item = ITEM(f1);
                update name set name = cast('lost+' || ITEM(f1) as blob) where item = ITEM(f2)
                """,
            says: ["had no name; it is lost+", "~1 at the root now"],
            moved: ["f1": "lost+ITEM(f1)~1", "f2": "lost+ITEM(f1)"]),
        TableDamage(
            testDescription: "a directory in itself",
            statement: "update name set parent = ITEM(folder) where item = ITEM(folder)",
            says: ["folder was inside itself"]),
        TableDamage(
            testDescription: "directories in each other",
            statement: "update name set parent = ITEM(inner) where item = ITEM(outer)",
            says: ["was inside itself"]),
        TableDamage(
            testDescription: "a directory with two names",
            statement: """
                insert into name (parent, name, item)
                values (1, cast('other' as blob), ITEM(folder))
                """,
            says: ["had a second name"]),
        TableDamage(
            testDescription: "names that cannot be",
            statement: """
                update name set name = cast('x/y' as blob) where item = ITEM(f1);
                update name set name = cast('.shapeedit' as blob) where item = ITEM(f2)
                """,
            says: ["\"x/y\" cannot be a name", ".shapeedit is taken"],
            moved: ["f1": "lost+ITEM(f1)", "f2": ".shapeedit~1"]),
        TableDamage(
            testDescription: "a name that is too long",
            statement: """
                update name set name = cast(printf('%.5000c', 'y') as blob) where item = ITEM(f1)
                """,
            says: ["cannot be a name"], moved: ["f1": "lost+ITEM(f1)"]),
        TableDamage(
            testDescription: "wrong link counts",
            statement: """
                update item set links = 9 where id in (ITEM(a), ITEM(folder));
                update item set links = 0 where id = ITEM(f1)
                """,
            says: [
                "a counted 9 links instead of 1", "folder counted 9 links instead of 2",
                "f1 counted 0 links instead of 1",
            ]),
        TableDamage(
            testDescription: "a wrong size of an item",
            statement: "update item set size = 7 where id = ITEM(a)",
            says: ["a was not told as its current version is (7 bytes instead of 16)"]),
        TableDamage(
            testDescription: "a wrong size of a version",
            statement: "update version set size = 7 where item = ITEM(a)",
            says: ["a, version 1 counted 7 bytes instead of 16"]),
        TableDamage(
            testDescription: "a version that is not known",
            statement: "delete from version where item = ITEM(a)",
            says: ["a has a current version that the catalog does not know"]),
        TableDamage(
            testDescription: "versions of documents that are gone",
            statement: """
                insert into version select 99999, 1, 99999, size, blocks, modified, published,
                author, place, hash from version where item = ITEM(a);
                insert into version select item, 0, 99999, size, blocks, modified, published,
                author, place, hash from version where item = ITEM(f1)
                """,
            says: [
                "1 version of documents that are gone had been kept",
                "f1, version 0 was of no document",
            ]),
        TableDamage(
            testDescription: "current versions of documents that are none, or are directories",
            statement: """
                update version set document = 99999 where item = ITEM(a);
                update version set document = ITEM(folder) where item = ITEM(f1)
                """,
            says: ["a, version 1 was of no document", "f1, version 1 was of no document"]),
        TableDamage(
            testDescription: "a version's number that would be given again",
            statement: "update item set next_ordinal = 1 where id = ITEM(a)",
            says: ["a would have given a version's number again"]),
        TableDamage(
            testDescription: "a version's number that would be given and cannot be",
            statement: "update item set next_ordinal = -1 where id = ITEM(a)",
            says: ["a would have given a version's number that cannot be"]),
        TableDamage(
            testDescription: "an owner and a group that cannot be",
            statement: """
                update item set uid = -1 where id = ITEM(a);
                update item set gid = -1 where id = ITEM(folder)
                """,
            says: ["a belonged to nobody", "folder belonged to nobody"]),
        TableDamage(
            testDescription: "an item's number that would be given again",
            statement: "update meta set value = 5 where key = 'highest'",
            says: ["were to be given out again"]),
        TableDamage(
            testDescription: "a counter beyond all numbers",
            statement: "update meta set value = -1 where key = 'highest'",
            says: ["numbers were to be given out that cannot be"]),
        TableDamage(
            testDescription: "an item's number that cannot be",
            statement: "update item set id = -1 where id = ITEM(f1)",
            says: [
                "18446744073709551615 cannot be the number of an item",
                "f1: its item was missing",
            ]),
        TableDamage(
            testDescription: "a document and a version that cannot be",
            statement: """
                update item set document = -1 where id = ITEM(a);
                update item set ordinal = -1 where id = ITEM(f1)
                """,
            says: ["had the document 18446744073709551615", "version 4294967295, which cannot be"]),
        TableDamage(
            testDescription: "a session of a version that cannot be",
            statement:
                "insert into session values (ITEM(a), 1 << 40, 0, 5, 1 << 62, 1 << 62, 0, 0)",
            says: ["1 unfinished save had numbers that cannot be"]),
        TableDamage(
            testDescription: "a version's number that cannot be",
            statement: "update version set ordinal = -1 where item = ITEM(a)",
            says: [
                "1 version had numbers that cannot be",
                "a has a current version that the catalog does not know",
            ]),
        TableDamage(
            testDescription: "the root with a name",
            statement: "update name set item = 1 where item = ITEM(f1)",
            says: ["the root had the name f1"], moved: ["f1": "lost+ITEM(f1)"]),
        TableDamage(
            testDescription: "the root without links",
            statement: "update item set links = 0 where id = 1",
            says: ["the root counted 0 links instead of"]),
        TableDamage(
            testDescription: "a key of bookmarks that is none",
            statement: "insert or replace into meta values ('bookmarkKey', 'x')",
            says: ["the key of the bookmarks was damaged"]),
        TableDamage(
            testDescription: "an attribute of nothing",
            statement: "insert into xattr values (99999, cast('user.x' as blob), x'01')",
            says: ["user.x belonged to a missing item 99999"]),
        TableDamage(
            testDescription: "a gap in the change log",
            statement: "delete from change where seq in (5, 6, 9)",
            says: ["changes 5 to 6 are missing", "change 9 is missing"]),
        TableDamage(
            testDescription: "a change log that ends too early",
            statement: "delete from change where seq = (select max(seq) from change)",
            says: ["is missing from the log"]),
        TableDamage(
            testDescription: "a last change that cannot be",
            statement: "update meta set value = -1 where key = 'applied'",
            says: ["it cannot go to change 18446744073709551615"]),
        TableDamage(
            testDescription: "a last change that is the last of all",
            statement: "update meta set value = 9223372036854775807 where key = 'applied'",
            says: ["it cannot go to change 9223372036854775807"]),
        TableDamage(
            testDescription: "a first change that cannot be",
            statement: """
                insert or replace into meta (key, value) values ('pruned', 9223372036854775807)
                """,
            says: ["it cannot begin after change 9223372036854775807"]),
        TableDamage(
            testDescription: "a change log that goes on too far",
            statement: "update meta set value = 10 where key = 'applied'",
            says: ["the log goes on to change"]),
    ]

    @Test(arguments: damages + contentDamages)
    func `check names and repairs a damaged row, and no document is lost`(
        _ damage: TableDamage
    ) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.whileMounted { agent in
                agent.makeDirectory("outer")
                agent.makeDirectory("outer/inner")
                agent.store("outer/inner/c", "c's only content")
            }
            var places = ["a", "f1", "f2", "folder/b", "outer/inner/c"].map { ($0, $0) }
            for (index, place) in places.enumerated() {
                if let moved = damage.moved[place.0] {
                    places[index].1 = try broken.resolved(moved)
                }
            }
            try broken.changeTables(broken.resolved(damage.statement))
            let first = try container.check()
            #expect(first.status == 1, "\(first)")
            for words in damage.says { #expect(first.text.contains(words), "\(words): \(first)") }
            #expect(!first.text.contains("damaged: "), "\(first)")
            let second = try container.check()
            #expect(second.status == 0, "\(second)")
            try broken.whileMounted { agent in
                for (old, new) in places where !old.hasPrefix("outer") {
                    let wanted: ByteString =
                        switch old {
                        case "a": "a's only content"
                        case "folder/b": "b's only content"
                        default: ByteString(repeating: "x", count: old == "f1" ? 2801 : 2802)
                        }
                    #expect(agent.content(ByteString(new)) == wanted, "\(old) at \(new)")
                }
                let found = agent.shell("find . -name c -exec cat {} +")
                #expect(found == "c's only content")
                // What is made now is new.
                agent.store("new", "new")
                agent.store("a", "a's second content")
                #expect(agent.content("a") == "a's second content")
            }
            #expect(try container.check().status == 0)
        }
    }

    @Test(arguments: [
        "update name set item = 1 where item = ITEM(f1)",
        "update name set parent = ITEM(folder) where item = ITEM(folder)",
        "update item set id = -1 where id = ITEM(f1)",
        "update item set document = -1 where id = ITEM(f1)",
        "update meta set value = -1 where key = 'highest'",
        "update meta set value = -1 where key = 'applied'",
        "update name set name = cast('x/y' as blob) where item = ITEM(f1)",
        "update name set name = cast(printf('%.5000c', 'y') as blob) where item = ITEM(f1)",
    ])
    func `a catalog that leads in circles or beyond all numbers is not served`(
        _ statement: String
    ) throws {
        try withBrokenContainer { broken in
            let mountPoint = broken.container.mountPoint
            try broken.changeTables(broken.resolved(statement))
            let refused = try broken.container.command(["mount", "test", mountPoint])
            #expect(refused.status == Int(EX_DATAERR), "\(refused)")
            #expect(refused.errorText.contains("container check test"), "\(refused)")
            #expect(!MountTable.isMounted(mountPoint))
        }
    }

    @Test(arguments: [
        "update item set links = 0 where id in (ITEM(f1), ITEM(folder))",
        "update item set blocks = 9223372036854775807 where id = ITEM(f1)",
        "update item set target = cast(printf('%.5000c', 'y') as blob) where id = ITEM(sym)",
    ])
    func `counts that cannot be end no mount`(_ statement: String) throws {
        try withBrokenContainer { broken in
            try broken.whileMounted { agent in _ = agent.shell("ln -s a sym") }
            try broken.changeTables(broken.resolved(statement))
            try broken.whileMounted { agent in
                #expect(agent.content("folder/b") == "b's only content")
                let removed = agent.shell(
                    "cd folder && mkdir below && rmdir below && cd .. && rm -r folder f1 sym "
                        + "&& printf gone")
                #expect(removed == "gone")
            }
            try broken.whileMounted { agent in
                #expect(agent.content("a") == "a's only content")
                #expect(agent.content("f2") == ByteString(repeating: "x", count: 2802))
            }
        }
    }

    @Test(arguments: ["-1", "9223372036854775807"])
    func `moments that cannot be end no mount`(_ moment: String) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            // Whatever its age, it stays.
            try broken.changeTables(
                """
                insert into version_pin select item, ordinal from version;
                update version set published = \(moment), modified = \(moment);
                update item set modified = \(moment), changed = \(moment), accessed = \(moment)
                """)
            try broken.whileMounted { agent in
                #expect(agent.shell("ls -lR . > /dev/null && cat a") == "a's only content")
                agent.store("a", "a's second content")
                let listed = try container.command("versions", "\(container.mountPoint)/a")
                #expect(listed.status == 0 && !listed.text.isEmpty, "\(listed)")
                #expect(agent.content("a") == "a's second content")
            }
        }
    }

    @Test(arguments: ["-1", "ordinal", "0"])
    func `a version's number that cannot be given takes no earlier version away`(
        _ next: String
    ) throws {
        try withBrokenContainer { broken in
            try broken.changeTables(
                broken.resolved("update item set next_ordinal = \(next) where id = ITEM(a)"))
            try broken.whileMounted { agent in
                agent.store("a", "a's second content")
                #expect(agent.content("a") == "a's second content")
                #expect(agent.shell("cat .shapeedit/versions/a/*") == "a's only content")
            }
            #expect(try broken.container.check().status == 0)
        }
    }

    @Test func `a mount keeps a root that counts no links`() throws {
        try withBrokenContainer { broken in
            try broken.changeTables("update item set links = 0 where id = 1")
            try broken.whileMounted { agent in #expect(agent.content("a") == "a's only content") }
            #expect(try broken.container.check().status == 1)
            try broken.whileMounted { agent in agent.store("new", "new") }
        }
    }

    @Test func `a document whose unsealed content is gone is named`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try broken.crash { agent in agent.store("fresh", "not sealed yet") }
            try broken.damage("test $(ls staging | wc -l) = 1; rm staging/*")
            let check = try container.check()
            #expect(check.status == Int(EX_DATAERR), "\(check)")
            #expect(check.text.contains("fresh: what was saved last is missing"), "\(check)")
            try broken.whileMounted { agent in #expect(agent.content("a") == "a's only content") }
        }
    }
}

extension BrokenContainer {
    /// Puts the numbers of items in for `ITEM(name)`.
    func resolved(_ text: String) throws -> String {
        var result = ""
        for (index, part) in text.components(separatedBy: "ITEM(").enumerated() {
            guard index > 0, let end = part.firstIndex(of: ")") else {
                result += part
                continue
            }
            let query =
                "select item from name where name = cast('\(part[..<end])' as blob)"
            result += try changeTables(query) + part[part.index(after: end)...]
        }
        return result
    }

    /// Runs statements on the catalog behind the product's back; what they print.
    @discardableResult
    func changeTables(_ statements: String) throws -> String {
        let result = try run(["sqlite3", "-bail", "catalog.sqlite", statements], directory: folder)
        guard result.status == 0 else { throw TestSetupFailure("\(statements): \(result)") }
        return String(result.text.prefix { $0 != "\n" })
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}
