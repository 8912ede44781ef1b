internal import Catalog
internal import Model
internal import PathText
internal import SystemCalls

/// What the process that repeats changes is to find, while it is at one. Any thread.
extension Replayer {
    enum Answer {
        /// As for everybody.
        case ordinary
        /// As it was before the change: nothing there, or what is not there any more.
        case absent
        case present(ReplayStep)
    }

    /// What the helper is at in the folder of a query, or (nil) among the queries, if it has this
    /// name.
    func entry(of query: PathKey?, _ name: [UInt8]) -> QueryEntry? {
        state.withLock { state in
            guard let entry = state.entry, entry.query == query, entry.name.pathBytes == name
            else { return nil }
            return entry
        }
    }

    /// Whether the helper is still to take the folder of a saved query away.
    func isGoing(query name: String) -> Bool { state.withLock { $0.queue.removes(query: name) } }

    /// What the helper is at of what owners granted.
    var grantedStep: GrantedStep? { state.withLock { $0.granted } }

    /// The former node that the helper is at, if it has this name in the folder of that number.
    func former(_ name: [UInt8], in folder: UInt64) -> NodeNumber? {
        state.withLock { state in
            state.formerFolder = folder
            guard let node = state.former, String(node.rawValue).utf8.elementsEqual(name) else {
                return nil
            }
            return node
        }
    }

    /// Whether the helper is taking away from a place what it has found there just now. Else the kernel
    /// has what came there since under that name, and would take that away.
    func isTaking(from place: ReplayStep.Place) -> Bool {
        state.withLock { $0.isFound && $0.current?.place == place }
    }

    /// What the helper is to find at a place.
    func look(at place: ReplayStep.Place) -> Answer {
        state.withLock { state in
            if let step = state.current {
                switch step.kind {
                case .made where step.place == place: return .absent
                case .removed where step.place == place, .moved where step.place == place:
                    state.isFound = true
                    return .present(step)
                case .moved(let target) where target == place: return .absent
                default: break
                }
            }
            // A folder on the way to a name in it that was removed with it.
            return state.queue.removal(of: place).map { .present($0) } ?? .ordinary
        }
    }
}
