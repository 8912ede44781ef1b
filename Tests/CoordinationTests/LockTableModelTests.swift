import Coordination
import Model
import Probing
import Testing

/// Random schedules of lock requests against ``ByteLocks``.
@Suite struct LockTableModelTests {
    private static let schedules = 2_000
    private static let steps = 60

    @Test func `random schedules agree with locks kept byte by byte`() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("lock table model test, seed \(seed)")
        var random = SplitMix(seed: seed)
        for schedule in 0..<Self.schedules {
            var run = Run()
            for step in 0..<Self.steps {
                let agrees = run.step(&random)
                try #require(agrees, "seed \(seed), schedule \(schedule), step \(step)")
            }
        }
    }
}

/// A table and its reference, driven alike.
private struct Run {
    private var table = LockTable<Int>()
    private var reference = ByteLocks()
    private var waits: [Int: WaitID] = [:]
    private var nextWaiter = 0

    /// Does one random thing to both; whether they agree on it and on what is held afterwards.
    mutating func step(_ random: inout SplitMix) -> Bool {
        let request = random.request()
        var agree: Bool
        switch random.below(10) {
        case 0..<6:
            let waiter = random.below(4) == 0 ? nil : nextWaiter
            nextWaiter += 1
            let (outcome, admitted) = table.acquire(request, waiter: waiter)
            let expected = reference.acquire(request, id: waiter)
            if case .waiting(let id) = outcome, let waiter { waits[waiter] = id }
            agree = Self.name(outcome) == expected.outcome && admitted == expected.admitted
        case 6..<8:
            let admitted = table.release(
                request.item, request.family, request.range, owner: request.owner)
            agree = admitted == reference.release(request)
        case 8:
            var all = request
            all.range = 0...Int64(ByteLocks.bytes - 1)
            let admitted = table.dropOwner(request.item, request.family, request.owner)
            agree = admitted == reference.release(all)
        default:
            guard let (waiter, id) = waits.randomElement(using: &random) else { return true }
            waits[waiter] = nil
            agree = table.cancel(id) == reference.cancel(waiter)
        }
        return agree && heldAgree() && testAgrees(random.request())
    }

    private static func name(_ outcome: LockOutcome) -> String {
        switch outcome {
        case .granted: "granted"
        case .wouldBlock: "wouldBlock"
        case .waiting: "waiting"
        case .deadlock: "deadlock"
        }
    }

    private func heldAgree() -> Bool {
        var bytes: [ByteLocks.Place: LockKind] = [:]
        for item in SplitMix.items {
            var last: [UInt64: LockRequest] = [:]
            for lock in table.held(on: item) {
                guard lock.family == .record else {
                    bytes[.init(item: item, owner: lock.owner, byte: nil)] = lock.kind
                    continue
                }
                for byte in lock.range {
                    let place = ByteLocks.Place(item: item, owner: lock.owner, byte: byte)
                    if bytes.updateValue(lock.kind, forKey: place) != nil { return false }
                }
                // Neighbours of one owner and kind would have been joined.
                if let before = last.updateValue(lock, forKey: lock.owner),
                    before.kind == lock.kind,
                    before.range.upperBound + 1 == lock.range.lowerBound
                {
                    return false
                }
            }
        }
        return bytes == reference.held
    }

    private func testAgrees(_ probe: LockRequest) -> Bool {
        var probe = probe
        probe.family = .record
        return (table.test(probe) == nil) == reference.blockers(probe).isEmpty
    }
}

extension SplitMix {
    static let items = [ItemNumber(rawValue: 1), ItemNumber(rawValue: 2)]

    fileprivate mutating func request() -> LockRequest {
        let first = below(ByteLocks.bytes)
        let length = below(min(8, ByteLocks.bytes - first))
        return LockRequest(
            item: Self.items[below(2)], family: below(3) == 0 ? .whole : .record,
            kind: below(2) == 0 ? .shared : .exclusive,
            range: Int64(first)...Int64(first + length), owner: UInt64(below(4) + 1), process: 1)
    }
}
