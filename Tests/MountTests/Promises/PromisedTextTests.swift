import Probing
import TestSupport
import Testing

/// What was in documents whose content is in a store.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct PromisedTextTests {
    /// What is found by a word, when it is as expected. A search that has waited its two seconds for
    /// words in vain goes without them, and is made again.
    @discardableResult
    private static func find(
        _ volume: Volume, _ word: String, expecting names: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws -> ProgramResult {
        let expected = names.map { "\(volume.directory)/\($0)\n" }.joined()
        var (result, tries) = (ProgramResult(status: 0, output: [], errors: []), 0)
        var took = Duration.zero
        repeat {
            let start = ContinuousClock.now
            result = try volume.shapeedit("find", "--text", word, "@.", at: location)
            took = ContinuousClock.now - start
            tries += 1
        } while result.text != expected && took > .milliseconds(1_900) && tries < 15
        #expect(result.text == expected, sourceLocation: location)
        return result
    }

    @Test func `a promise is found by the words it had, and nothing is fetched`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("note.txt", "twelve sheep")
            agent.store("late.txt", "seven goats")
            try Self.find(volume, "sheep", expecting: "note.txt")
            try volume.evictAll()
            try Self.find(volume, "sheep", expecting: "note.txt")
            try volume.remount()
            let after = try volume.agent()
            after.shell("mv note.txt moved.md")
            try Self.find(volume, "sheep", expecting: "moved.md")
            #expect(try volume.fetchedBytes() == 0)
            // What comes again is read again.
            #expect(after.content("moved.md") == "twelve sheep")
            try Self.find(volume, "sheep", expecting: "moved.md")
            try Self.find(volume, "goats", expecting: "late.txt")
        }
    }

    @Test func `a promise that takes another one's name keeps its own words`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("one.txt", "twelve sheep")
            agent.store("two.txt", "seven goats")
            try Self.find(volume, "sheep", expecting: "one.txt")
            try Self.find(volume, "goats", expecting: "two.txt")
            try volume.evictAll()
            agent.shell("mv one.txt two.txt")
            try Self.find(volume, "sheep", expecting: "two.txt")
            try Self.find(volume, "goats")
            #expect(try volume.fetchedBytes() == 0)
        }
    }

    @Test func `without the worker nothing is found by words, and that is said`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("first.txt", "twelve sheep")
            try Self.find(volume, "sheep", expecting: "first.txt")
            let container = try #require(volume.container)
            container.additionalEnvironment["SHAPEEDIT_THUMBNAILER"] = "/nonexistent"
            try volume.remount()
            let after = try volume.agent()
            after.store("second.txt", "seven sheep")
            let result = try Self.find(volume, "sheep", expecting: "first.txt")
            #expect(result.errorText.contains("/nonexistent"), "\(result)")
            #expect(
                try volume.run("cat", "\(volume.root.text)/.shapeedit/status.json").text
                    .contains("\"textProblem\": \"/nonexistent"))
            container.additionalEnvironment["SHAPEEDIT_THUMBNAILER"] = nil
            try volume.remount()
            try Self.find(volume, "sheep", expecting: "first.txt", "second.txt")
        }
    }
}
