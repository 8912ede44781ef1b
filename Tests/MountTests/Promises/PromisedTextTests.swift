import Probing
import TestSupport
import Testing

/// What was in documents whose content is in a store.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct PromisedTextTests {
    @Test func `a promise is found by the words it had, and nothing is fetched`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("note.txt", "twelve sheep")
            agent.store("late.txt", "seven goats")
            func found(_ words: String) throws -> String {
                try volume.shapeedit("find", "--text", words, "@.").text
            }
            #expect(try found("sheep") == "\(volume.directory)/note.txt\n")
            try volume.evictAll()
            #expect(try found("sheep") == "\(volume.directory)/note.txt\n")
            try volume.remount()
            let after = try volume.agent()
            after.shell("mv note.txt moved.md")
            #expect(try found("sheep") == "\(volume.directory)/moved.md\n")
            #expect(try volume.fetchedBytes() == 0)
            // What comes again is read again.
            #expect(after.content("moved.md") == "twelve sheep")
            #expect(try found("sheep") == "\(volume.directory)/moved.md\n")
            #expect(try found("goats") == "\(volume.directory)/late.txt\n")
        }
    }

    @Test func `without the worker nothing is found by words, and that is said`() throws {
        try withVolume(.passthrough) { volume in
            let agent = try volume.agent()
            agent.store("first.txt", "twelve sheep")
            _ = try volume.shapeedit("find", "--text", "sheep", "@.")
            let container = try #require(volume.container)
            container.additionalEnvironment["SHAPEEDIT_THUMBNAILER"] = "/nonexistent"
            try volume.remount()
            let after = try volume.agent()
            after.store("second.txt", "seven sheep")
            let result = try volume.shapeedit("find", "--text", "sheep", "@.")
            #expect(result.text == "\(volume.directory)/first.txt\n")
            #expect(result.errorText.contains("/nonexistent"), "\(result)")
            #expect(
                try volume.run("cat", "\(volume.root.text)/.shapeedit/status.json").text
                    .contains("\"textProblem\": \"/nonexistent"))
            container.additionalEnvironment["SHAPEEDIT_THUMBNAILER"] = nil
            try volume.remount()
            #expect(
                try volume.shapeedit("find", "--text", "sheep", "@.").text
                    == "\(volume.directory)/first.txt\n\(volume.directory)/second.txt\n")
        }
    }
}
