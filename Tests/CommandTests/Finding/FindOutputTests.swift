import Glibc
import Probing
import TestSupport
import Testing

/// What `shapeedit find` prints, to the byte.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct FindOutputTests {
    private struct Document {
        var name: String
        /// As a line for terminals has it.
        var line: String
        /// As a JSON string has it.
        var quoted: String
        var title: String?
        var quotedTitle: String?

        init(
            _ name: String, line: String? = nil, quoted: String? = nil, title: String? = nil,
            quotedTitle: String? = nil
        ) {
            (self.name, self.line, self.quoted) = (name, line ?? name, quoted ?? name)
            (self.title, self.quotedTitle) = (title, quotedTitle ?? title)
        }
    }

    /// In the order of their names.
    private static let documents = [
        Document("a\"b\\c", quoted: "a\\\"b\\\\c"),
        Document("bell\u{7}", line: "bell\\x07", quoted: "bell\\u0007"),
        Document("del\u{7f}", line: "del\\x7f", quoted: "del\\u007f"),
        Document("line\nfeed", quoted: "line\\u000afeed"),
        Document("next\u{85}line", line: "next\\x85line", quoted: "next\\u0085line"),
        Document("plain"),
        Document("t.md", title: "Plain ä \u{a0} title"),
        Document("u.md", title: "\"Odd\" title", quotedTitle: "\\\"Odd\\\" title"),
        Document("ä \u{a0} 日本 😀"),
    ]

    private static func document(at path: String) throws -> String {
        try Probing.run(["getfattr", "--only-values", "-n", "user.shapeedit.id", "--", path]).text
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `each form is exact, whatever names have in them`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            #expect(try desk.run("find") == "")
            #expect(try desk.run("find", "-0") == "")
            #expect(try desk.run("find", "--json") == "[]\n")
            var objects: [String] = []
            for document in Self.documents {
                let path = desk.path(document.name)
                let text = document.title.map { "# \($0)\n" } ?? "x"
                let file = try #require(fopen(path, "w"))
                fputs(text, file)
                fclose(file)
                let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 500)
                #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
                var status = stat()
                #expect(stat(path, &status) == 0)
                objects.append(
                    "{\"path\": \"\(desk.path(document.quoted))\", \"item\": \(status.st_ino)"
                        + ", \"document\": \"\(try Self.document(at: path))\""
                        + ", \"folder\": false, \"size\": \(text.utf8.count)"
                        + ", \"modified\": \"2023-11-14T22:13:20.000000500Z\""
                        + ", \"promise\": false"
                        + (document.quotedTitle.map { ", \"title\": \"\($0)\"" } ?? ""))
            }
            let lines = Self.documents.map { desk.path($0.line) + "\n" }
            #expect(try desk.run("find") == lines.joined())
            let names = Self.documents.map { desk.path($0.name) + "\0" }
            #expect(try desk.run("find", "-0") == names.joined())
            #expect(
                try desk.run("find", "--json") == "[\(objects.joined(separator: "}, "))}]\n")
            let titled = objects.filter { $0.contains("\"title\": ") }.map { $0 + "}" }
            #expect(
                try desk.run("find", "--type", "md", "--sort", "title", "--reverse", "--json")
                    == "[\(titled.joined(separator: ", "))]\n")
        }
    }

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a long answer is whole`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            // More than is read at a time, with lines across its end; some of an odd form.
            let end = String(repeating: "n", count: 180)
            try desk.shell("for n in $(seq -w 4000); do : > $n-\(end); done")
            try desk.shell("for n in $(seq -w 1 400 4000); do mv $n-\(end) \"$n\\\"\"; done")
            let names = (1...4000).map { number in
                let digits = String(String(10_000 + number).dropFirst())
                return digits + (number % 400 == 1 ? "\"" : "-" + end)
            }
            let lines = names.map { desk.path($0) + "\n" }.joined()
            #expect(try desk.run("find") == lines)
            let listed = try JSONValue.read(try desk.run("find", "--json"))
            #expect(listed.elements.compactMap { $0["path"]?.text } == names.map(desk.path))
        }
    }
}
