import Coordination
import Testing

/// What presenters are told, one by one. Time is whatever the tests say.
@Suite struct PresenterTests {
    private var table = ClaimTable(lease: 5)

    private func path(_ text: String) throws -> ClaimPath { try #require(ClaimPath(text)) }

    private mutating func present(_ text: String, process: Int32 = 50) throws -> PresenterID {
        table.present(try path(text), ClaimHolder(process: process, command: "shows"))
    }

    private mutating func claim(
        _ text: String, _ access: ClaimAccess, presenter: PresenterID? = nil, purpose: UInt64 = 1,
        deadline: UInt64 = 100, process: Int32 = 60, at now: UInt64 = 0
    ) throws -> (id: ClaimID, events: [ClaimEvent]) {
        table.request(
            ClaimRequest(
                [ClaimTarget(try path(text), access)], purpose: ClaimPurpose(rawValue: purpose),
                holder: ClaimHolder(process: process, command: "app"), presenter: presenter,
                deadline: deadline), at: now)
    }

    private mutating func change(
        _ kind: ItemChange.Kind, _ text: String, by process: Int32 = 60, at now: UInt64 = 0
    ) throws -> [ClaimEvent] {
        table.note(ItemChange(kind, try path(text), by: process), at: now)
    }

    @Test mutating func `a claim is granted when its presenters have prepared`() throws {
        let shown = try present("a")
        let asked = try claim("a", .read)
        let message = PresenterMessage.prepare(
            asked.id, ClaimPreparation(lets: .reader, saves: true))
        #expect(asked.events == [.message(shown, message)])
        #expect(table.listings.map(\.phase) == [.preparing])
        #expect(table.answer(shown, asked.id, at: 1) == [.granted(asked.id, [try path("a")])])
        #expect(table.answer(shown, asked.id, at: 1).isEmpty)
        #expect(table.release(asked.id, at: 2) == [.message(shown, .resume(asked.id))])
    }

    @Test mutating func `what is asked for depends on the access`() throws {
        let wanted: [ClaimAccess: ClaimPreparation?] = [
            .read: .init(lets: .reader, saves: true),
            .readForUploading: .init(lets: .reader, saves: true),
            .readWithoutChanges: .init(lets: .reader), .readMetadata: nil,
            .write: .init(lets: .writer), .writeMoving: .init(lets: .writer),
            .writeMerging: .init(lets: .writer, saves: true),
            .writeDeleting: .init(lets: .writer, accommodatesDeletion: true),
            .writeReplacing: .init(lets: .writer, accommodatesDeletion: true),
            .writeMetadata: nil,
        ]
        let shown = try present("a")
        for access in ClaimAccess.allCases {
            let asked = try claim("a", access)
            switch try #require(wanted[access]) {
            case nil: #expect(asked.events == [.granted(asked.id, [try path("a")])])
            case let preparation?:
                #expect(asked.events == [.message(shown, .prepare(asked.id, preparation))])
            }
            _ = table.release(asked.id, at: 0)
        }
    }

    @Test mutating func `deleting concerns what is below and folders above`() throws {
        let (above, shown, below) = (try present(""), try present("a"), try present("a/b/c"))
        let beside = try present("b")
        let asked = try claim("a", .writeDeleting)
        let preparation = ClaimPreparation(lets: .writer, accommodatesDeletion: true)
        #expect(
            asked.events == [
                .message(above, .prepareDeletion(asked.id, try path("a"))),
                .message(shown, .prepare(asked.id, preparation)),
                .message(below, .prepare(asked.id, preparation)),
            ])
        #expect(table.answer(beside, asked.id, at: 0).isEmpty)
        for presenter in [above, below] {
            #expect(table.answer(presenter, asked.id, at: 0).isEmpty)
        }
        #expect(table.answer(shown, asked.id, at: 0).count == 1)
    }

    @Test mutating func `who does not answer within the lease is passed over`() throws {
        _ = try present("a")
        let asked = try claim("a", .write, at: 10)
        #expect(table.nextMoment == 15)
        #expect(table.advance(to: 14).isEmpty)
        #expect(table.advance(to: 15) == [.granted(asked.id, [try path("a")])])
    }

    /// Each claim took 5 s where an editor was stopped by ^Z.
    @Test mutating func `who was passed over is told, and waited for again once it answers`() throws
    {
        let shown = try present("a")
        let missed = try claim("a", .write, at: 10)
        #expect(table.advance(to: 15) == [.granted(missed.id, [try path("a")])])
        #expect(table.release(missed.id, at: 16) == [.message(shown, .resume(missed.id))])
        let next = try claim("a", .write, at: 17)
        #expect(next.events.contains(.granted(next.id, [try path("a")])))
        #expect(
            next.events.contains {
                if case .message(shown, .prepare(next.id, _)) = $0 { true } else { false }
            })
        #expect(table.release(next.id, at: 18) == [.message(shown, .resume(next.id))])
        #expect(table.answer(shown, missed.id, at: 19).isEmpty)
        let last = try claim("a", .write, at: 20)
        #expect(!last.events.contains(.granted(last.id, [try path("a")])))
        #expect(table.answer(shown, last.id, at: 21) == [.granted(last.id, [try path("a")])])
    }

    @Test mutating func `who goes is not waited for`() throws {
        let shown = try present("a")
        let asked = try claim("a", .write)
        #expect(table.dismiss(shown, at: 1) == [.granted(asked.id, [try path("a")])])
        #expect(table.release(asked.id, at: 2).isEmpty && table.isIdle)
    }

    @Test mutating func `a presenter saves past the claim that waits for it`() throws {
        let shown = try present("a")
        let reader = try claim("a", .read)
        // Somebody else does not get past.
        #expect(try claim("a", .write, purpose: 9).events.isEmpty)
        let saving = try claim("a", .write, presenter: shown, purpose: 2)
        #expect(saving.events == [.granted(saving.id, [try path("a")])])
        // It has prepared, but still writes.
        #expect(table.answer(shown, reader.id, at: 1).isEmpty)
        #expect(table.release(saving.id, at: 2) == [.granted(reader.id, [try path("a")])])
    }

    @Test mutating func `a presenter's process writes while others wait for it`() throws {
        _ = try present("a", process: 50)
        #expect(try claim("a", .read).events.count == 1)
        #expect(try claim("a", .write, purpose: 9).events.isEmpty)
        for (process, isFree) in [(Int32(50), true), (51, false)] {
            let opening = ClaimRequest(
                [ClaimTarget(try path("a"), .write)], purpose: ClaimPurpose(rawValue: 2),
                holder: ClaimHolder(process: process, command: "app"), origin: .opening,
                family: [process], deadline: 100)
            #expect(table.isFree(opening) == isFree)
        }
    }

    @Test mutating func `two presenters that save for a reader do not wait for each other`() throws
    {
        let (one, two) = (try present("a", process: 50), try present("a", process: 51))
        let reader = try claim("a", .read)
        let letsWriter = ClaimPreparation(lets: .writer)
        let first = try claim("a", .write, presenter: one, purpose: 2)
        #expect(first.events == [.message(two, .prepare(first.id, letsWriter))])
        // The other one cannot answer: it waits for its own claim.
        let second = try claim("a", .write, presenter: two, purpose: 3)
        #expect(
            second.events == [
                .message(one, .prepare(second.id, letsWriter)),
                .granted(second.id, [try path("a")]),
            ])
        #expect(table.release(second.id, at: 1) == [.message(one, .resume(second.id))])
        #expect(table.answer(two, reader.id, at: 1).isEmpty)
        #expect(table.answer(two, first.id, at: 1) == [.granted(first.id, [try path("a")])])
        #expect(table.release(first.id, at: 2) == [.message(two, .resume(first.id))])
        #expect(table.answer(one, reader.id, at: 2) == [.granted(reader.id, [try path("a")])])
    }

    @Test mutating func `who has prepared goes on under a claim that got past the other`() throws {
        let (one, two) = (try present("a", process: 50), try present("a", process: 51))
        let first = try claim("a", .write, presenter: one, purpose: 2, process: 50)
        let second = try claim("a", .write, presenter: two, purpose: 3, process: 51)
        #expect(second.events.contains(.granted(second.id, [try path("a")])))
        // It had nothing to save for the first claim, which still has to wait for the second.
        #expect(table.answer(two, first.id, at: 1).isEmpty)
        for (process, isFree) in [(Int32(51), true), (52, false)] {
            let opening = ClaimRequest(
                [ClaimTarget(try path("a"), .write)], purpose: ClaimPurpose(rawValue: 4),
                holder: ClaimHolder(process: process, command: "app"), origin: .opening,
                family: [process], deadline: 100)
            #expect(table.isFree(opening) == isFree)
        }
        // Nor is more of the second's purpose a circle.
        let more = try claim("a", .write, presenter: two, purpose: 3, process: 51, at: 2)
        #expect(more.events.contains(.granted(more.id, [try path("a")])))
        #expect(!table.release(second.id, at: 3).contains(.granted(first.id, [try path("a")])))
        #expect(table.release(more.id, at: 4).contains(.granted(first.id, [try path("a")])))
    }

    @Test mutating func `a presenter saves past a claim that waits for one that waits for it`()
        throws
    {
        let presenters = try (50..<54).map { try present("a", process: $0) }
        let (writes, opens, saves, idle) = (
            presenters[0], presenters[1], presenters[2], presenters[3]
        )
        let writer = try claim("a", .write, presenter: writes, purpose: 2, process: 50)
        #expect(writer.events.count == 3)
        let reader = try claim("a", .read, presenter: opens, purpose: 3, process: 51)
        // The first one's presenter waits for its own claim, and is not waited for.
        #expect(reader.events.count == 3)
        for one in [opens, saves, idle] { _ = table.answer(one, writer.id, at: 1) }
        #expect(table.answer(idle, reader.id, at: 1).isEmpty)
        // The reader waits for this one to save, and the writer for the reader.
        let saving = try claim("a", .write, presenter: saves, purpose: 4, process: 52)
        #expect(table.answer(idle, saving.id, at: 2) == [.granted(saving.id, [try path("a")])])
        #expect(!table.release(saving.id, at: 3).contains(.granted(writer.id, [try path("a")])))
        #expect(
            table.answer(saves, reader.id, at: 4) == [.granted(reader.id, [try path("a")])])
        #expect(table.release(reader.id, at: 5).contains(.granted(writer.id, [try path("a")])))
    }

    @Test mutating func `presenters that read together do not wait for each other`() throws {
        let presenters = try (50..<53).map { try present("a", process: $0) }
        let first = try claim("a", .read, presenter: presenters[0], purpose: 2, process: 50)
        let second = try claim("a", .read, presenter: presenters[1], purpose: 3, process: 51)
        let third = try claim("a", .read, presenter: presenters[2], purpose: 4, process: 52)
        // All are told; those that may not answer before their own claims are granted are not waited for.
        #expect(first.events.count == 2 && second.events.count == 2)
        #expect(third.events.count == 3)
        #expect(third.events.last == .granted(third.id, [try path("a")]))
        let granted = [
            table.answer(presenters[2], first.id, at: 1),
            table.answer(presenters[2], second.id, at: 1),
            table.answer(presenters[1], first.id, at: 1),
        ]
        let path = try path("a")
        #expect(granted == [[], [.granted(second.id, [path])], [.granted(first.id, [path])]])
    }

    @Test mutating func `claims that are prepared at one moment are granted one after the other`()
        throws
    {
        let two = try present("a", process: 51)
        _ = try present("a", process: 52)
        let first = try claim("a", .write, purpose: 2)
        let second = try claim("a", .write, presenter: two, purpose: 3)
        // Nobody answers, and both leases end.
        #expect(table.advance(to: 5) == [.granted(second.id, [try path("a")])])
        #expect(
            table.release(second.id, at: 6).contains(.granted(first.id, [try path("a")])))
    }

    @Test mutating func `the claim's own presenter is not asked`() throws {
        let shown = try present("a")
        let asked = try claim("a", .write, presenter: shown)
        #expect(asked.events == [.granted(asked.id, [try path("a")])])
    }

    @Test mutating func `a claim that is given up lets presenters resume`() throws {
        let shown = try present("a")
        let asked = try claim("a", .write, deadline: 3)
        let events = table.advance(to: 3)
        #expect(events.contains(.message(shown, .resume(asked.id))))
        guard case .refused(_, .timedOut(let silent)) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(silent.map(\.holder.process) == [50])
    }

    // MARK: Changes

    @Test mutating func `changes are told to the item and to folders above`() throws {
        let (above, shown) = (try present(""), try present("a/b"))
        let item = try path("a/b")
        #expect(
            try change(.changed, "a/b") == [
                .message(shown, .changed), .message(above, .subitemChanged(item)),
            ])
        #expect(
            try change(.published, "a/b") == [
                .message(shown, .changed), .message(shown, .versionGained),
                .message(above, .subitemChanged(item)),
            ])
        #expect(
            try change(.exchanged, "a") == [
                .message(shown, .changed), .message(above, .subitemChanged(try path("a"))),
            ])
        #expect(try change(.versionLost, "a/b") == [.message(shown, .versionLost)])
        #expect(try change(.versionConflict, "a/b") == [.message(shown, .versionConflict)])
        #expect(
            try change(.deleted, "a/b") == [
                .message(shown, .deleted), .message(above, .subitemDeleted(item)),
            ])
        #expect(
            try change(.appeared, "a/b") == [
                .message(shown, .changed), .message(above, .subitemAppeared(item)),
            ])
        #expect(try change(.changed, "a") == [.message(above, .subitemChanged(try path("a")))])
    }

    @Test mutating func `a move is told with all that is below`() throws {
        let (from, to) = (try present("x"), try present("y"))
        let shown = try present("x/d/e")
        let move = ItemChange.Kind.moved(from: try path("x/d"), replacing: false)
        #expect(
            try change(move, "y/d") == [
                .message(from, .subitemMoved(try path("x/d"), try path("y/d"))),
                .message(to, .subitemAppeared(try path("y/d"))),
                .message(shown, .moved(try path("y/d/e"))),
            ])
        #expect(table.path(of: shown) == (try path("y/d/e")))
    }

    @Test mutating func `a document saved by renaming over it has changed`() throws {
        let (above, shown) = (try present(""), try present("doc"))
        let move = ItemChange.Kind.moved(from: try path("tmp"), replacing: true)
        #expect(
            try change(move, "doc") == [
                .message(shown, .changed), .message(shown, .versionGained),
                .message(above, .subitemDeleted(try path("tmp"))),
                .message(above, .subitemChanged(try path("doc"))),
            ])
    }

    @Test mutating func `what was shown before it came by a rename has changed`() throws {
        let (above, shown) = (try present(""), try present("d"))
        let (below, own) = (try present("d/e"), try present("d/f", process: 60))
        let moved = try present("tmp/g")
        let move = ItemChange.Kind.moved(from: try path("tmp"), replacing: false)
        #expect(
            try change(move, "d") == [
                .message(shown, .changed), .message(below, .changed),
                .message(above, .subitemMoved(try path("tmp"), try path("d"))),
                .message(moved, .moved(try path("d/g"))),
            ])
        #expect(table.path(of: own) == (try path("d/f")))
    }

    @Test mutating func `a document saved by renaming it away stays where it was`() throws {
        let shown = try present("doc")
        let away = ItemChange.Kind.moved(from: try path("doc"), replacing: false)
        #expect(try change(away, "doc~") == [.message(shown, .moved(try path("doc~")))])
        // Somebody else's file is not the document.
        #expect(try change(.appeared, "doc", by: 61, at: 1).isEmpty)
        #expect(
            try change(.appeared, "doc", at: 2) == [.message(shown, .moved(try path("doc")))])
        #expect(try change(away, "doc~", at: 3).count == 1)
        // Too late.
        #expect(try change(.appeared, "doc", at: 20_000_000_000).isEmpty)
    }

    @Test mutating func `who caused a change is not told`() throws {
        let own = try present("a", process: 60)
        let other = try present("a", process: 61)
        #expect(try change(.changed, "a", by: 60) == [.message(other, .changed)])
        #expect(try change(.changed, "a", by: 0).count == 2)
        // Nor the presenter on whose behalf it was done.
        _ = try claim("a", .write, presenter: other, process: 70)
        #expect(try change(.changed, "a", by: 70) == [.message(own, .changed)])
        // What a part of its program writes while it reads comes from somebody else.
        let reader = try present("b", process: 60)
        _ = try claim("b", .read, presenter: reader, process: 60)
        let written = ItemChange(.changed, try path("b"), by: 71, family: [71, 60])
        #expect(table.note(written, at: 0) == [.message(reader, .changed)])
    }

    @Test mutating func `what one presenter does is told to the others of its process`() throws {
        let own = try present("a", process: 60)
        let second = try present("a", process: 60)
        let above = try present("", process: 60)
        let asked = try claim("a", .write, presenter: own, process: 60)
        #expect(
            try change(.published, "a", by: 60) == [
                .message(second, .changed), .message(second, .versionGained),
                .message(above, .subitemChanged(try path("a"))),
            ])
        _ = table.release(asked.id, at: 0)
        #expect(try change(.published, "a", by: 60).isEmpty)
    }

    @Test
    mutating func `what is done under a claim for nobody is told to presenters of its process`()
        throws
    {
        let reading = try claim("b", .read, process: 60)
        let writing = try claim("a", .write, process: 60)
        let commanding = try claim("c", .write, process: 62)
        let own = try present("", process: 60)
        #expect([reading, writing, commanding].allSatisfy { $0.events.count == 1 })
        let told = try change(.changed, "a", by: 60)
        #expect(told == [.message(own, .subitemChanged(try path("a")))])
        // A claim to read says nothing of who writes.
        #expect(try change(.changed, "b", by: 60).isEmpty)
        // What a command writes that was run under one is its own doing.
        let written = ItemChange(.changed, try path("c"), by: 60, family: [60, 62])
        #expect(table.note(written, at: 0).isEmpty)
        _ = table.release(writing.id, at: 0)
        #expect(try change(.changed, "a", by: 60).isEmpty)
    }

    @Test mutating func `a presenter learns where its item is, also from its own process`() throws {
        let own = try present("a/b", process: 60)
        let above = try present("", process: 60)
        let named = try present("a/b", process: 61)
        _ = try claim("a", .writeMoving, presenter: named, process: 60)
        let move = ItemChange.Kind.moved(from: try path("a"), replacing: false)
        let subitem = PresenterMessage.subitemMoved(try path("a"), try path("c"))
        #expect(
            try change(move, "c", by: 60) == [
                .message(above, subitem), .message(own, .moved(try path("c/b"))),
            ])
        #expect(table.path(of: named) == (try path("c/b")))
        #expect(table.path(of: above) == (try path("")))
    }
}
