import DocumentKit
import Glibc
import Probing
import SystemCalls
import TestSupport
import Testing

/// The example in the library's article.
@Suite(.oneAtATime) struct NoteTakerTests {
    @Test func `the article shows the program that is built, and it is short`() throws {
        // This file is Tests/DocumentKitTests/NoteTakerTests.swift.
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/")
        let program = try #require(text(of: "\(root)/Tests/Support/NoteTaker/NoteTaker.swift"))
        let article = try #require(
            text(of: "\(root)/Sources/DocumentKit/DocumentKit.docc/Notes.md"))
        #expect(article.contains("```swift\n" + program + "```"))
        #expect(program.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
    }

    @Test(arguments: places)
    func `two note takers on one file lose nothing`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let binary = try BuiltPrograms.noteTaker()
            try store(path, "begin\n")
            // Each has a while to take over what the other has saved.
            let line = """
                saved() { until grep -q "$1" note 2> /dev/null; do sleep 0.1; done; sleep 3; }
                { echo one; echo; saved two; echo; } | '\(binary)' note > first.out &
                { saved one; echo two; sleep 1.5; } | '\(binary)' note > second.out &
                wait
                """
            let result = try volume.run("bash", "-c", line)
            #expect(result.status == 0 && result.errorText == "", "\(result)")
            #expect(text(of: path) == "begin\none\ntwo\n")
            let first = text(of: "\(volume.directory)/first.out") ?? ""
            #expect(first.hasSuffix("begin\none\ntwo\n"), "\(first)")
        }
    }
}
