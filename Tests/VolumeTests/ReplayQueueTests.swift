import Model
import Testing

@testable import FileSystem

/// What waits to be repeated on a mount.
@Suite struct ReplayQueueTests {
    private let folder = ItemNumber(rawValue: 2)

    private func step(_ number: UInt64) -> ReplayStep {
        ReplayStep(
            kind: .written, place: ReplayStep.Place(parent: folder, name: [1]),
            node: NodeNumber(ItemNumber(rawValue: number), 1), mode: 0, isWatchable: true)
    }

    private func former(_ number: UInt64) -> NodeChange {
        NodeChange(node: NodeNumber(ItemNumber(rawValue: 3), UInt32(number)), kind: .content)
    }

    @Test func `former nodes take no room from changes of names, however often they are told`() {
        var queue = ReplayQueue()
        for _ in 0..<100 {
            for number in 1...64 { queue.add(former(UInt64(number))) }
        }
        for number in 1...100 { queue.add(step(UInt64(number) + 10), now: 5_000_000_000) }
        var (nodes, steps) = (0, 0)
        while let work = queue.take() {
            switch work {
            case .node: nodes += 1
            case .step: steps += 1
            default: Issue.record("a change is told by its folder only")
            }
        }
        #expect(nodes == 64 && steps == 100)
    }

    @Test func `a former node that was taken can be told about again`() {
        var queue = ReplayQueue()
        queue.add(former(1))
        #expect(queue.take() != nil)
        queue.add(former(1))
        queue.add(former(1))
        #expect(queue.take() != nil)
        #expect(queue.isEmpty)
    }

    @Test func `a step may come behind one of a later moment`() {
        var queue = ReplayQueue()
        queue.add(path: [1], now: 5_000_000_000)
        // They count as of that second.
        let isAdded = (0..<ReplayQueue.perSecond).map { number in
            queue.add(step(UInt64(number)), now: 4_999_999_999)
        }
        #expect(isAdded.firstIndex(of: false) == ReplayQueue.perSecond - 1)
    }

    @Test func `what is granted while the owner's folder is still to be told comes after it`() {
        func step(_ document: UInt64?) -> GrantedStep {
            GrantedStep(
                kind: .made, owner: "other", document: document.map(DocumentID.init(rawValue:)),
                path: "in other")
        }
        var queue = ReplayQueue()
        // Of a folder that the kernel does not know nobody is told anything.
        queue.add(granted: step(1), isWatchable: false, now: 0)
        #expect(queue.isEmpty)
        queue.add(granted: step(nil), isWatchable: false, now: 0)
        queue.add(granted: step(2), isWatchable: false, now: 0)
        var told: [DocumentID?] = []
        while case .granted(let step)? = queue.take() { told.append(step.document) }
        #expect(told == [nil, DocumentID(rawValue: 2)])
        // Later the kernel has forgotten it, perhaps.
        queue.rest()
        queue.add(granted: step(3), isWatchable: false, now: 0)
        #expect(queue.isEmpty)
    }

    @Test func `what is granted by an owner whose folder could not be told is not told either`() {
        func step(_ document: UInt64?) -> GrantedStep {
            GrantedStep(
                kind: .made, owner: "other", document: document.map(DocumentID.init(rawValue:)),
                path: "in other")
        }
        var queue = ReplayQueue()
        for _ in 0..<ReplayQueue.perSecond { queue.add(path: [1], now: 0) }
        queue.add(granted: step(nil), isWatchable: false, now: 0)
        while queue.take() != nil {}
        queue.add(granted: step(1), isWatchable: false, now: 5_000_000_000)
        #expect(queue.isEmpty)
    }

    @Test func `steps come in the order in which their changes were announced`() {
        var changes = AnnouncedSteps()
        let (first, second, third) = (changes.announce(), changes.announce(), changes.announce())
        #expect(changes.take([step(3)], of: third).isEmpty)
        #expect(changes.take([], of: first).isEmpty)
        #expect(changes.arrived == 1 && changes.announced == 3)
        let rest = changes.take([step(1), step(2)], of: second)
        #expect(rest.map(\.node.item.rawValue) == [1, 2, 3])
        #expect(changes.arrived == 3)
    }
}
