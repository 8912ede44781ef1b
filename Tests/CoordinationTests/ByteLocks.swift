import Coordination
import Model

/// Locks byte by byte over a small range, in the most obvious way; the tests' reference.
struct ByteLocks {
    static let bytes = 24

    struct Wait {
        var id: Int
        var request: LockRequest
    }

    struct Place: Hashable {
        var item: ItemNumber
        var owner: UInt64
        /// `nil`: the lock on the whole file.
        var byte: Int64?
    }

    private(set) var held: [Place: LockKind] = [:]
    private(set) var waiting: [Wait] = []

    private func places(_ request: LockRequest) -> [Place] {
        if request.family == .whole {
            return [Place(item: request.item, owner: request.owner, byte: nil)]
        }
        return request.range.map { Place(item: request.item, owner: request.owner, byte: $0) }
    }

    func blockers(_ request: LockRequest) -> Set<UInt64> {
        let wanted = Set(places(request).map(\.byte))
        return Set(
            held.filter { place, kind in
                place.item == request.item && place.owner != request.owner
                    && wanted.contains(place.byte)
                    && (kind == .exclusive || request.kind == .exclusive)
            }.map(\.key.owner))
    }

    private func isDeadlock(_ request: LockRequest) -> Bool {
        var reached = blockers(request)
        while true {
            let more = waiting.filter {
                $0.request.family == .record && reached.contains($0.request.owner)
            }
            .reduce(reached) { $0.union(blockers($1.request)) }
            if more.contains(request.owner) { return true }
            if more == reached { return false }
            reached = more
        }
    }

    /// What becomes of the request (the WaitID is not looked at) and who is let in.
    mutating func acquire(_ request: LockRequest, id: Int?) -> (outcome: String, admitted: [Int]) {
        let place = Place(item: request.item, owner: request.owner, byte: nil)
        if request.family == .whole {
            if held[place] == request.kind { return ("granted", []) }
            held[place] = nil
        }
        if blockers(request).isEmpty {
            for place in places(request) { held[place] = request.kind }
            return ("granted", admit())
        }
        guard let id else { return ("wouldBlock", admit()) }
        if request.family == .record, isDeadlock(request) { return ("deadlock", []) }
        let admitted = admit()
        waiting.append(Wait(id: id, request: request))
        return ("waiting", admitted)
    }

    mutating func release(_ request: LockRequest) -> [Int] {
        for place in places(request) { held[place] = nil }
        return admit()
    }

    mutating func cancel(_ id: Int) -> Int? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        return waiting.remove(at: index).id
    }

    private mutating func admit() -> [Int] {
        var admitted: [Int] = []
        while let index = waiting.firstIndex(where: { blockers($0.request).isEmpty }) {
            let wait = waiting.remove(at: index)
            for place in places(wait.request) { held[place] = wait.request.kind }
            admitted.append(wait.id)
        }
        return admitted
    }
}
