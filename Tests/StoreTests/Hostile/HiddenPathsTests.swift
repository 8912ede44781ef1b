import Testing

@testable import Stores

/// What of a tree was not shown, however much that is.
@Suite struct HiddenPathsTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `a path alone hides nothing else, and a folder all below it`() {
        var hidden = HiddenPaths()
        hidden.insert(bytes("a/b"), withAllBelow: false)
        hidden.insert(bytes("c/d"), withAllBelow: true)
        for path in ["a/b", "c/d", "c/d/e", "c/d/e/f"] { #expect(hidden.contains(bytes(path))) }
        for path in ["a", "a/bc", "a/b/c", "c", "c/de", "e"] {
            #expect(!hidden.contains(bytes(path)))
        }
    }

    @Test func `more than can be noted hides all, in little memory`() {
        var hidden = HiddenPaths()
        for number in 0..<1_000 { hidden.insert(bytes("\(number)"), withAllBelow: false) }
        #expect(!hidden.isAll && !hidden.contains(bytes("other")))
        let long = [UInt8](repeating: 0x61, count: 40_000)
        for number in 0..<300 { hidden.insert(long + bytes("\(number)"), withAllBelow: false) }
        #expect(hidden.isAll && hidden.contains(bytes("other")) && hidden.alone.isEmpty)
        hidden.insert(bytes("more"), withAllBelow: true)
        #expect(hidden.withAllBelow == [[]])
    }

    @Test func `a path that is noted again takes nothing more`() {
        var hidden = HiddenPaths()
        let long = [UInt8](repeating: 0x61, count: 40_000)
        for _ in 0..<300 { hidden.insert(long, withAllBelow: false) }
        #expect(!hidden.isAll && hidden.contains(long))
    }
}
