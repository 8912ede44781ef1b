import Coordination
import Glibc
import Model
import SystemCalls

/// Results that follow what happens in the mount: looks again when it has been quiet for a moment.
struct LiveFind {
    private let search: Search
    private let json: Bool

    /// Changes gather until nothing has happened for so long, in milliseconds ...
    private static let quiet: Int32 = 100
    /// ... but no longer than this.
    private static let patience: UInt64 = 1_000

    init(_ search: Search, json: Bool) {
        self.search = search
        self.json = json
    }

    /// Tells what changes until the mount goes away, which is the failure.
    func run(_ first: (results: [Search.Result], sequence: UInt64)) throws(Failure) {
        let events: OwnedDescriptor
        do throws(Errno) {
            events = try OwnedDescriptor.open(
                search.mountPoint + "/.shapeedit/events-\(first.sequence)", O_RDONLY | O_NONBLOCK)
        } catch { throw failure(error) }
        tell(from: [], to: first.results)
        var results = first.results
        while true {
            do throws(Errno) { try waitForQuiet(events) } catch { throw failure(error) }
            let now = try search.run().results
            tell(from: results, to: now)
            results = now
        }
    }

    private func failure(_ error: Errno) -> Failure {
        Failure(.unavailable, "\(search.mountPoint): the mount went away (\(error))")
    }

    /// Returns when something has happened, and then nothing for a moment.
    private func waitForQuiet(_ events: borrowing OwnedDescriptor) throws(Errno) {
        try take(events, timeout: -1)
        let deadline = MonotonicClock.after(milliseconds: Self.patience)
        while MonotonicClock.now < deadline, try take(events, timeout: Self.quiet) {}
    }

    /// Takes what there is to read, or comes in time; says whether there was anything.
    @discardableResult
    private func take(_ events: borrowing OwnedDescriptor, timeout: Int32) throws(Errno) -> Bool {
        var entry = pollfd(fd: events.number, events: Int16(POLLIN), revents: 0)
        if try check({ poll(&entry, 1, timeout) }) == 0 { return false }
        var block = [UInt8](repeating: 0, count: 1 << 16)
        do throws(Errno) {
            while try check({ Glibc.read(events.number, &block, block.count) }) > 0 {}
        } catch {
            if error.code != EAGAIN { throw error }
        }
        return true
    }

    /// Prints how the list changed, if it did.
    private func tell(from old: [Search.Result], to new: [Search.Result]) {
        // A document with several names is there as often.
        var seen: [Int: Int] = [:]
        func keys(_ results: [Search.Result]) -> [Key] {
            seen = [:]
            return results.map { result in
                defer { seen[result.item, default: 0] += 1 }
                return Key(item: result.item, number: seen[result.item, default: 0], result: result)
            }
        }
        let (before, after) = (keys(old), keys(new))
        let difference = ListDifference(from: before, to: after) { [$0.item, $0.number] }
        if difference.isEmpty { return }
        if json {
            Console.say(object(difference, new))
        } else {
            for index in difference.removed { say("-", old[index]) }
            for index in difference.added { say("+", new[index]) }
            let changed = Set(difference.updated).union(difference.moved.map(\.to))
            for index in changed.sorted() { say("~", new[index]) }
        }
    }

    private struct Key: Equatable {
        var item: Int
        var number: Int
        var result: Search.Result
    }

    private func say(_ sign: String, _ result: Search.Result) {
        Console.say("\(sign) \(search.mountPoint)/\(result.path)")
    }

    private func object(_ difference: ListDifference, _ new: [Search.Result]) -> String {
        func placed(_ index: Int) -> String {
            JSONText.object([
                ("index", String(index)), ("result", new[index].json(search.mountPoint)),
            ])
        }
        return JSONText.object([
            ("removed", JSONText.array(difference.removed.map(String.init))),
            ("added", JSONText.array(difference.added.map(placed))),
            (
                "moved",
                JSONText.array(
                    difference.moved.map {
                        JSONText.object([("from", String($0.from)), ("to", String($0.to))])
                    })
            ),
            ("updated", JSONText.array(difference.updated.map(placed))),
        ])
    }
}
