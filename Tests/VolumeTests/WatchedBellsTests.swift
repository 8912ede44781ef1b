import Testing

@testable import FileSystem

/// The bells of owners that are watched with inotify.
@Suite struct WatchedBellsTests {
    @Test func `a bell that rings is its owner's, and watched no more`() {
        var bells = WatchedBells()
        let first = [bells.hang(1, of: "a"), bells.hang(2, of: "b"), bells.hang(1, of: "a")]
        #expect(first == [.init(), .init(), .init(isOther: false)])
        let rung = bells.take(ended: [2, 7])
        #expect(rung == ["b"] && bells.watched == ["a"])
        let next = bells.hang(3, of: "a")
        #expect(next == .init(former: 1))
        let late = bells.take(ended: [1])
        #expect(late.isEmpty)
        let left = bells.end()
        #expect(left == [3] && bells.watched.isEmpty)
    }

    @Test func `a bell that rings before it is said whose it is has rung`() {
        var bells = WatchedBells()
        _ = bells.hang(1, of: "a")
        var rung = bells.take(ended: [2])
        #expect(rung.isEmpty)
        let hung = [bells.hang(2, of: "a"), bells.hang(3, of: "a")]
        #expect(hung == [.init(hasRung: true, former: 1), .init()])
        #expect(bells.watched == ["a"])
        // Not if nobody was about to say it.
        rung = bells.take(ended: [4])
        bells.settle()
        let other = bells.hang(4, of: "b")
        #expect(rung.isEmpty && !other.hasRung)
    }
}
