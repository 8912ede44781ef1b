import Catalog
import Model
import Testing

/// Documents that get their name back.
@Suite struct IdentityTunnelTests {
    private var tunnel = IdentityTunnel()
    private let document = DocumentID(rawValue: 42)
    private let name = Array("Würfel.shape".utf8)

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private mutating func note(_ name: [UInt8], _ document: UInt64, at seconds: Int64) {
        tunnel.note(
            parent: .root, name: name, document: DocumentID(rawValue: document), process: 7,
            at: at(seconds))
    }

    private mutating func claim(
        _ name: [UInt8], parent: ItemNumber = .root, process: Int32 = 7, at seconds: Int64
    ) -> UInt64? {
        tunnel.claim(parent: parent, name: name, process: process, at: at(seconds))?.rawValue
    }

    @Test mutating func `a name gives its document back once`() {
        note(name, 42, at: 100)
        #expect(claim(name, at: 101) == 42)
        #expect(claim(name, at: 101) == nil)
    }

    @Test mutating func `only the same process, folder and name get it`() {
        note(name, 42, at: 100)
        #expect(claim(name, process: 8, at: 101) == nil)
        #expect(claim(name, parent: ItemNumber(rawValue: 2), at: 101) == nil)
        #expect(claim(name + [65], at: 101) == nil)
        #expect(claim(name, at: 101) == 42)
    }

    @Test(arguments: [(15, true), (16, false), (-15, true), (-16, false)] as [(Int64, Bool)])
    mutating func `it waits for fifteen seconds`(later: Int64, found: Bool) {
        note(name, 42, at: 100)
        #expect((claim(name, at: 100 + later) != nil) == found)
        #expect(claim(name, at: 100) == nil)
    }

    @Test mutating func `the latest of two documents of a name is meant`() {
        note(name, 42, at: 100)
        note(name, 43, at: 101)
        #expect(claim(name, at: 102) == 43)
        #expect(claim(name, at: 102) == nil)
    }

    @Test mutating func `the oldest are forgotten beyond the capacity`() {
        let names = (0..<IdentityTunnel.capacity + 10).map { Array("\($0)".utf8) }
        for (index, name) in names.enumerated() { note(name, UInt64(index), at: 100) }
        #expect(tunnel.documents.count == IdentityTunnel.capacity)
        #expect(claim(names[9], at: 100) == nil)
        #expect(claim(names[10], at: 100) == 10)
        #expect(claim(names[names.count - 1], at: 100) == UInt64(names.count - 1))
    }

    @Test mutating func `many notes and claims keep it small and right`() {
        let waiting = Array("waiting".utf8)
        for round in 0..<50_000 {
            if round % 1_000 == 0 { note(waiting, UInt64(round), at: 100) }
            note(name, UInt64(round), at: 100)
            #expect(claim(name, at: 100) == UInt64(round))
        }
        #expect(tunnel.documents.count == 1)
        #expect(claim(waiting, at: 100) == 49_000)
    }
}
