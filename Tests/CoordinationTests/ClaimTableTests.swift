import Coordination
import Testing

/// The rules of claims and presenters, one by one. Time is whatever the tests say.
@Suite struct ClaimTableTests {
    private var table = ClaimTable(lease: 5)

    private func request(
        _ path: String, _ access: ClaimAccess, purpose: UInt64, process: Int32 = 1,
        origin: ClaimRequest.Origin = .coordinated, family: [Int32] = [], isNested: Bool = false,
        presenter: PresenterID? = nil, line: UInt64? = nil, deadline: UInt64 = 100
    ) throws -> ClaimRequest {
        let place = try #require(ClaimPath(path))
        var request = ClaimRequest(
            [ClaimTarget(place.document, access)], purpose: ClaimPurpose(rawValue: purpose),
            holder: ClaimHolder(process: process, command: "app"), origin: origin, family: family,
            isNested: isNested, presenter: presenter, line: line, deadline: deadline)
        request.inner = [place.inner]
        return request
    }

    /// Whether a second claim is held while the first is.
    private func share(
        _ first: ClaimAccess, _ path: String, _ second: ClaimAccess, _ other: String
    ) throws -> Bool {
        var table = ClaimTable(lease: 5)
        let one = table.request(try request(path, first, purpose: 1), at: 0)
        #expect(one.events.count == 1)
        let two = table.request(try request(other, second, purpose: 2), at: 0)
        // The second gets in when the first goes.
        let later = table.release(one.id, at: 1)
        #expect(two.events.count + later.count == 1)
        return two.events.count == 1
    }

    @Test func `readers share, a writer excludes`() throws {
        for first in ClaimAccess.allCases {
            for second in ClaimAccess.allCases {
                let together = try share(first, "a/b", second, "a/b")
                #expect(together == (!first.writes && !second.writes), "\(first) \(second)")
                #expect(try share(first, "a/b", second, "a/c"), "\(first) \(second)")
            }
        }
    }

    @Test func `deleting, moving and replacing cover what is below, both ways`() throws {
        for first in ClaimAccess.allCases {
            for second in ClaimAccess.allCases {
                let below = try share(first, "a", second, "a/b/c")
                #expect(below == !first.coversBelow, "\(first) \(second)")
                let above = try share(first, "a/b/c", second, "a")
                #expect(above == !second.coversBelow, "\(first) \(second)")
            }
        }
    }

    @Test mutating func `a folder that becomes a package is claimed as what is in it was`() throws {
        let holder = table.request(try request("d/text", .write, purpose: 1), at: 0)
        #expect(holder.events.count == 1)
        let move = ItemChange(
            .moved(from: try #require(ClaimPath("d")), replacing: false),
            try #require(ClaimPath("d.rtfd")), by: 9)
        _ = table.note(move, at: 1)
        let other = table.request(try request("d.rtfd", .read, purpose: 2), at: 2)
        #expect(other.events == [])
        #expect(table.release(holder.id, at: 3).count == 1)
    }

    @Test(arguments: [("d.rtfd", "plain", "plain/text"), ("d.rtfd/text", "moved", "moved")])
    mutating func `what is in a package is claimed where it goes`(
        _ source: String, _ target: String, _ place: String
    ) throws {
        _ = table.request(try request("d.rtfd/text", .write, purpose: 1), at: 0)
        let move = ItemChange(
            .moved(from: try #require(ClaimPath(source)), replacing: false),
            try #require(ClaimPath(target)), by: 9)
        #expect(table.note(move, at: 1) == [])
        #expect(!table.isFree(try request(place, .read, purpose: 2)))
        // Claims stay with the path that they were granted for.
        #expect(!table.isFree(try request("d.rtfd/other", .read, purpose: 2)))
        #expect(table.isFree(try request("plain/other", .read, purpose: 2)))
    }

    @Test mutating func `claims of one purpose never block one another`() throws {
        for access in ClaimAccess.allCases {
            let asked = table.request(try request("a", access, purpose: 7), at: 0)
            #expect(asked.events == [.granted(asked.id, [ClaimPath([Array("a".utf8)])])])
        }
    }

    @Test mutating func `several items are granted in one step or not at all`() throws {
        let held = table.request(try request("b", .write, purpose: 1), at: 0)
        var both = try request("a", .write, purpose: 2)
        both.targets += try request("b", .read, purpose: 2).targets
        let waits = table.request(both, at: 0)
        #expect(waits.events.isEmpty)
        // What it waits to hold is kept from those who come later, and from nobody before.
        let later = table.request(try request("a", .read, purpose: 3), at: 0)
        #expect(later.events.isEmpty)
        #expect(table.release(held.id, at: 1).count == 1)
        #expect(table.release(waits.id, at: 2).count == 1)
        #expect(table.listings.map(\.phase) == [.granted])
    }

    @Test mutating func `a writer does not starve behind readers that keep coming`() throws {
        let reader = table.request(try request("a", .read, purpose: 1), at: 0).id
        let writer = table.request(try request("a", .write, purpose: 2), at: 0).id
        for round in UInt64(3)..<20 {
            let next = table.request(try request("a", .read, purpose: round), at: round)
            #expect(next.events.isEmpty)
        }
        let first = table.release(reader, at: 20)
        #expect(first == [.granted(writer, [try #require(ClaimPath("a"))])])
        #expect(table.release(writer, at: 21).count == 17)
    }

    @Test mutating func `who holds passes those that wait for it`() throws {
        _ = table.request(try request("a", .read, purpose: 1), at: 0)
        let writer = table.request(try request("a", .write, purpose: 2), at: 0)
        #expect(writer.events.isEmpty)
        #expect(table.request(try request("a", .read, purpose: 1), at: 0).events.count == 1)
        #expect(table.request(try request("a", .read, purpose: 3), at: 0).events.isEmpty)
    }

    @Test mutating func `a circle of three is refused, and the others go on`() throws {
        let held = try ["a", "b", "c"].enumerated().map {
            table.request(try request($1, .write, purpose: UInt64($0)), at: 0).id
        }
        #expect(table.request(try request("b", .read, purpose: 0), at: 0).events.isEmpty)
        #expect(table.request(try request("c", .read, purpose: 1), at: 0).events.isEmpty)
        let last = table.request(try request("a", .read, purpose: 2), at: 0)
        guard case .refused(last.id, .deadlock(let others)) = last.events.first else {
            Issue.record("\(last.events)")
            return
        }
        #expect(others.count == 2)
        #expect(table.release(held[2], at: 1).count == 1)
    }

    @Test mutating func `a circle of lines is refused, whatever the purposes of their claims`()
        throws
    {
        let held = table.request(try request("a", .write, purpose: 1, line: 1), at: 0).id
        _ = table.request(try request("b", .write, purpose: 2, line: 2), at: 0)
        let waits = table.request(try request("b", .read, purpose: 3, line: 1), at: 0)
        #expect(waits.events.isEmpty)
        let last = table.request(try request("a", .read, purpose: 4, line: 2), at: 0)
        guard case .refused(last.id, .deadlock(let others)) = last.events.first else {
            Issue.record("\(last.events)")
            return
        }
        #expect(others.map(\.id) == [waits.id])
        // One that waits for itself is told of what it holds.
        let own = table.request(try request("a", .read, purpose: 5, line: 1), at: 0)
        guard case .refused(own.id, .deadlock(let itself)) = own.events.first else {
            Issue.record("\(own.events)")
            return
        }
        #expect(itself.map(\.id) == [held])
    }

    @Test mutating func `who holds a line's claim passes those that wait for it`() throws {
        _ = table.request(try request("a", .read, purpose: 1, line: 1), at: 0)
        let writer = table.request(try request("a", .write, purpose: 2, line: 2), at: 0)
        #expect(writer.events.isEmpty)
        #expect(
            table.request(try request("a", .read, purpose: 3, line: 1), at: 0).events.count == 1)
        #expect(table.request(try request("a", .read, purpose: 4, line: 3), at: 0).events.isEmpty)
    }

    @Test mutating func `waiting ends in time and says who is in the way`() throws {
        let held = table.request(try request("a", .write, purpose: 1, process: 77), at: 3)
        let waits = table.request(try request("a", .read, purpose: 2, deadline: 10), at: 4)
        #expect(table.nextMoment == 10)
        #expect(table.advance(to: 9).isEmpty)
        let events = table.advance(to: 10)
        guard case .refused(waits.id, .timedOut(let others)) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(others.map(\.holder.process) == [77] && others.map(\.since) == [3])
        #expect(table.nextMoment == nil)
        #expect(table.release(waits.id, at: 11).isEmpty)
        #expect(table.release(held.id, at: 11).isEmpty && table.isIdle)
    }

    @Test mutating func `cancelling lets those behind go on`() throws {
        _ = table.request(try request("a", .read, purpose: 1), at: 0)
        let writer = table.request(try request("a", .write, purpose: 2), at: 0)
        let reader = table.request(try request("a", .read, purpose: 3), at: 0)
        let events = table.release(writer.id, at: 1)
        #expect(events.contains(.refused(writer.id, .cancelled)))
        #expect(events.contains(.granted(reader.id, [ClaimPath([Array("a".utf8)])])))
    }

    // MARK: File operations

    @Test mutating func `file operations do not block one another`() throws {
        _ = table.note(try request("a", .write, purpose: 1, origin: .session), at: 0)
        #expect(table.isFree(try request("a", .write, purpose: 2, origin: .opening)))
        #expect(table.isFree(try request("a", .writeMoving, purpose: 2, origin: .naming)))
        #expect(!table.isFree(try request("a", .read, purpose: 2)))
        #expect(table.isFree(try request("a", .writeMetadata, purpose: 2)))
    }

    /// Each that came made the table look at all for each: a thousand had the mount stand still for
    /// half a minute.
    @Test(.timeLimit(.minutes(1)))
    mutating func `thousands of opens that wait for one claim hold nobody up`() throws {
        let count = UInt64(3_000)
        let held = table.request(try request("a", .write, purpose: 1), at: 0).id
        for process in 0..<count {
            let open = try request("a", .read, purpose: 10 + process, process: 2, origin: .opening)
            #expect(table.request(open, at: process / 100).events.isEmpty)
            let other = try request("b", .write, purpose: 2, process: 3, origin: .opening)
            let asked = table.request(other, at: 0)
            #expect(asked.events.count == 1)
            #expect(table.release(asked.id, at: 0).isEmpty)
        }
        #expect(table.release(held, at: 50).count == Int(count))
        for id in table.listings.map(\.id) { #expect(table.release(id, at: 51).isEmpty) }
        #expect(table.isIdle)
    }

    /// Each place of one was compared with each of the other, for each that both had: all operations in the
    /// mount waited meanwhile.
    @Test(.timeLimit(.minutes(1)))
    mutating func `claims of many places hold nobody up`() throws {
        func claim(_ access: ClaimAccess, purpose: UInt64) -> ClaimRequest {
            let targets = (0..<256).map { number in
                ClaimTarget(ClaimPath([Array("folder".utf8), Array("\(number)".utf8)]), access)
            }
            return ClaimRequest(
                targets, purpose: ClaimPurpose(rawValue: purpose),
                holder: ClaimHolder(process: 1, command: "app"), deadline: 100)
        }
        let readers = (1...100).map { table.request(claim(.read, purpose: $0), at: 0) }
        #expect(readers.allSatisfy { $0.events.count == 1 })
        let writer = table.request(claim(.write, purpose: 101), at: 0)
        #expect(writer.events.isEmpty)
        for reader in readers.dropLast() { #expect(table.release(reader.id, at: 1).isEmpty) }
        #expect(table.release(readers[99].id, at: 1).count == 1)
    }

    @Test mutating func `a process works under the claims of its ancestors`() throws {
        _ = table.request(try request("a", .write, purpose: 1, process: 10), at: 0)
        func opening(_ family: [Int32]) throws -> ClaimRequest {
            try request(
                "a", .write, purpose: 2, process: family[0], origin: .opening, family: family)
        }
        #expect(table.isFree(try opening([30, 20, 10, 1])))
        #expect(!table.isFree(try opening([30, 20, 1])))
    }

    @Test mutating func `a nested claim works under those of its family, and others wait for it`()
        throws
    {
        let path = try #require(ClaimPath("a"))
        let own = table.present(path, ClaimHolder(process: 7, command: "app"))
        let held = table.request(
            try request("a", .write, purpose: 1, process: 7, presenter: own), at: 0)
        let behind = table.request(try request("a", .write, purpose: 2, process: 8), at: 0)
        // A child's claim is no file operation: it waits unless it says that it is nested.
        let plain = table.request(
            try request("a", .write, purpose: 3, process: 9, family: [9, 7, 1]), at: 0)
        #expect(behind.events.isEmpty && plain.events.isEmpty)
        // Neither for those who wait for the claim above it, nor for the presenter which has that.
        let nested = table.request(
            try request(
                "a", .writeMerging, purpose: 4, process: 9, family: [9, 7, 1], isNested: true),
            at: 0)
        #expect(nested.events == [.granted(nested.id, [path])])
        let stranger = table.request(
            try request("a", .read, purpose: 5, process: 10, family: [10, 1], isNested: true),
            at: 0)
        #expect(stranger.events.isEmpty)
        #expect(table.release(held.id, at: 1).isEmpty)
        // The presenter is asked on behalf of others again.
        let next = table.release(nested.id, at: 2)
        #expect(next == [.message(own, .prepare(behind.id, ClaimPreparation(lets: .writer)))])
    }

    @Test mutating func `what is done under a claim does not wait for others of its purpose`()
        throws
    {
        _ = table.request(try request("a", .write, purpose: 7, process: 10), at: 0)
        _ = table.request(try request("a", .write, purpose: 7, process: 20), at: 0)
        let own = try request(
            "a", .write, purpose: 1, process: 30, origin: .opening, family: [30, 10])
        #expect(table.isFree(own))
        // Nor does a claim of that purpose wait for what is written so, or for those behind it.
        #expect(table.request(try request("a", .write, purpose: 3), at: 0).events.isEmpty)
        let session = try request(
            "a", .write, purpose: 1, process: 30, origin: .session, family: [30, 10])
        _ = table.note(session, at: 0)
        #expect(table.isFree(try request("a", .write, purpose: 7, process: 20)))
        #expect(table.isFree(own))
        let stranger = try request(
            "a", .write, purpose: 2, process: 40, origin: .opening, family: [40])
        #expect(!table.isFree(stranger))
    }

    @Test mutating func `a process that holds is not behind those who wait for it`() throws {
        _ = table.request(try request("a", .write, purpose: 1, process: 10), at: 0)
        #expect(table.request(try request("a", .write, purpose: 3), at: 0).events.isEmpty)
        let opening = try request(
            "a", .write, purpose: 2, process: 30, origin: .opening, family: [30, 10])
        #expect(table.isFree(opening))
    }

    @Test mutating func `readers are not in the way of changed names, writers are`() throws {
        let reader = table.request(try request("a/b", .read, purpose: 1), at: 0)
        #expect(table.isFree(try request("a/b", .writeDeleting, purpose: 2, origin: .naming)))
        _ = table.release(reader.id, at: 0)
        _ = table.request(try request("a/b", .write, purpose: 1), at: 0)
        #expect(!table.isFree(try request("a/b", .writeDeleting, purpose: 2, origin: .naming)))
        #expect(!table.isFree(try request("a", .writeMoving, purpose: 2, origin: .naming)))
        #expect(table.isFree(try request("a/c", .writeReplacing, purpose: 2, origin: .naming)))
    }

    @Test mutating func `a claim covers the old and the new name of what is renamed`() throws {
        _ = table.request(try request("a", .write, purpose: 1), at: 0)
        let move = ItemChange(
            .moved(from: ClaimPath([Array("a".utf8)]), replacing: false),
            ClaimPath([Array("b".utf8)]), by: 5)
        #expect(table.note(move, at: 1).isEmpty)
        #expect(!table.isFree(try request("a", .read, purpose: 2)))
        #expect(!table.isFree(try request("b", .read, purpose: 2)))
        #expect(table.listings[0].targets.map(\.path.description) == ["b"])
    }

    @Test mutating func `what is written under another name keeps nobody from the first`() throws {
        func targets(_ names: String...) throws -> [ClaimTarget] {
            try names.map { name in ClaimTarget(try #require(ClaimPath(name)), .write) }
        }
        let session = table.note(
            try request("a", .write, purpose: 1, origin: .session, deadline: .max), at: 0)
        let waits = table.request(try request("a", .read, purpose: 2), at: 0)
        #expect(waits.events.isEmpty)
        let both = table.retarget([(session.id, try targets("a", "b"))], at: 1)
        #expect(both.isEmpty)
        let granted = table.retarget([(session.id, try targets("b"))], at: 1)
        #expect(granted == [.granted(waits.id, [try #require(ClaimPath("a"))])])
        #expect(!table.isFree(try request("b", .read, purpose: 3)))
        // It has no name any more, and ends.
        #expect(table.retarget([(session.id, [])], at: 1).isEmpty)
        #expect(table.isFree(try request("b", .read, purpose: 3)))
        #expect(table.release([session.id, waits.id], at: 2).isEmpty)
        #expect(table.isIdle)
    }

    @Test mutating func `who waits follows an announced move only`() throws {
        // By the process that has the claim, by another one, and by one that it has started.
        for (family, isFollowed) in [([Int32(10)], true), ([11], false), ([11, 10], true)] {
            for (old, new) in [
                ("old", "new"), ("old", "in.rtfd/new"), ("in.rtfd/old", "in.rtfd/new"),
                ("in.rtfd/old", "new"), ("old.rtfd", "new"),
            ] {
                var table = ClaimTable(lease: 5)
                let mover = table.request(
                    try request(old, .writeMoving, purpose: 1, process: 10), at: 0)
                let waits = table.request(try request("\(old)/x", .read, purpose: 2), at: 0)
                let move = ItemChange(
                    .moved(from: try #require(ClaimPath(old)), replacing: false),
                    try #require(ClaimPath(new)), by: family[0], family: family)
                #expect(table.note(move, at: 1).isEmpty)
                let events = table.release(mover.id, at: 2)
                let place = try #require(ClaimPath("\(isFollowed ? new : old)/x"))
                #expect(events == [.granted(waits.id, [place])])
            }
        }
    }

    @Test mutating func `a renaming announces no move of its own`() throws {
        let file = try #require(ClaimPath("file"))
        let writer = table.request(try request("file", .write, purpose: 1, process: 10), at: 0)
        let waits = table.request(try request("file", .write, purpose: 2, process: 20), at: 0)
        // As the operation itself is claimed while it lasts, by a process that was started under the claim.
        let renaming = table.request(
            try request(
                "file", .writeMoving, purpose: 3, process: 11, origin: .naming, family: [11, 10]),
            at: 0)
        #expect(renaming.events == [.granted(renaming.id, [file])])
        let move = ItemChange(
            .moved(from: file, replacing: false), try #require(ClaimPath("file~")), by: 11,
            family: [11, 10])
        #expect(table.note(move, at: 1).isEmpty)
        #expect(table.release([renaming.id], at: 1).isEmpty)
        #expect(table.release([writer.id], at: 2) == [.granted(waits.id, [file])])
    }
}
