import Probing
import TestSupport

extension DamagedTablesTests {
    /// Damage to what the catalog tells of contents and kinds, or tells as nobody can read it.
    static let contentDamages = [
        TableDamage(
            testDescription: "changes of no kind",
            statement: "update change set kind = 99 where seq in (5, 9)",
            says: ["the change log had 2 changes of no kind that there is"]),
        TableDamage(
            testDescription: "a file's content that cannot be",
            statement: """
                update item set hash = x'0102' where id = ITEM(a);
                update item set place = 99 where id = ITEM(f1)
                """,
            says: ["had a content that cannot be"]),
        TableDamage(
            testDescription: "a version's content that cannot be",
            statement: """
                update version set hash = x'0102' where item = ITEM(a);
                update version set place = -1 where item = ITEM(f1)
                """,
            says: ["version 1 of item "]),
        TableDamage(
            testDescription: "a place of a content that cannot be",
            statement: """
                update item set place = 99 where id = ITEM(a);
                update version set place = 258 where item = ITEM(a)
                """,
            says: ["had a content that cannot be"]),
        TableDamage(
            testDescription: "versions with another content than their files",
            statement: """
                update version set hash = zeroblob(32) where item = ITEM(a);
                update version set hash = null where item = ITEM(f1)
                """,
            says: [
                "a, version 1 was not told as it is", "f1, version 1 was not told as it is",
            ]),
        TableDamage(
            testDescription: "a version that is nowhere",
            statement: """
                update version set place = 0 where item in (ITEM(a), ITEM(f1));
                update item set place = 0 where id = ITEM(f1)
                """,
            says: ["a, version 1 was not told as it is", "f1, version 1 was not told as it is"]),
        TableDamage(
            testDescription: "a file that is nowhere",
            statement: "update item set place = 0 where id = ITEM(a)",
            says: ["a was not told as its current version is"]),
        TableDamage(
            testDescription: "a wrong size of one of two versions with the same content",
            statement: """
                update version set hash = (select hash from version where item = ITEM(f1)),
                    size = (select size from version where item = ITEM(f1)) where item = ITEM(f3);
                update item set hash = (select hash from item where id = ITEM(f1)), size = 2801
                    where id = ITEM(f3);
                update version set size = 68719476741 where item = ITEM(f3)
                """,
            says: ["f3, version 1 counted 68719476741 bytes instead of 2801"]),
        TableDamage(
            testDescription: "items of other kinds than they are",
            statement: """
                update item set mode = 5 where id in (ITEM(a), ITEM(folder));
                update item set mode = mode - 32768 + 16384 where id = ITEM(f1)
                """,
            says: [
                "a did not count as a file", "folder did not count as a directory",
                "f1 did not count as a file",
            ]),
        TableDamage(
            testDescription: "a version of a document that cannot be",
            statement: "update version set document = -1 where item = ITEM(a)",
            says: ["a, version 1 was of no document"]),
        TableDamage(
            testDescription: "a change that is the last of all",
            statement: """
                update change set seq = 4611686018427387904 where seq =
                    (select max(seq) from change)
                """,
            says: ["change 4611686018427387904 cannot be"]),
        TableDamage(
            testDescription: "a grant of what nobody can be granted",
            statement: "insert into document_grant values (ITEM(a), 'app', 9, 1, null)",
            says: ["a grant to app could not be read"]),
        TableDamage(
            testDescription: "a root that is missing",
            statement: "delete from item where id = 1",
            says: ["the root was missing"]),
        TableDamage(
            testDescription: "directories that are missing, and a document in them",
            statement:
                "delete from item where id in (ITEM(folder), ITEM(outer), ITEM(inner), ITEM(c))",
            says: [
                "folder was missing; it is there again", "outer was missing; it is there again",
                "outer/inner was missing; it is there again", "outer/inner/c: its item was missing",
            ]),
        TableDamage(
            testDescription: "all items",
            statement: "delete from item",
            says: ["the root was missing", "a: its item was missing"]),
    ]
}
