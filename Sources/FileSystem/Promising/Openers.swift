internal import Coordination
internal import Model

/// A content that is kept from going because a thread waits for it, or is about to open it.
struct HeldContent {
    var node: NodeNumber
    var thread: Int32
}

/// Which processes, or threads of them, have which nodes open, or wait for their contents: to be named
/// when a content cannot be let go. Guarded by its owner.
struct Openers {
    /// One entry for each handle, and for each who waits.
    private var threads: [NodeNumber: [Int32]] = [:]

    mutating func add(_ node: NodeNumber, _ thread: Int32) {
        threads[node, default: []].append(thread)
    }

    mutating func remove(_ node: NodeNumber, _ thread: Int32) {
        // The handle keeps 24 bits of it.
        let kept = thread & 0xff_ffff
        guard let place = threads[node]?.firstIndex(where: { $0 & 0xff_ffff == kept }) else {
            return
        }
        threads[node]?.remove(at: place)
        if threads[node]?.isEmpty == true { threads[node] = nil }
    }

    subscript(_ node: NodeNumber) -> [Int32] { threads[node] ?? [] }
}

/// Why a content cannot be let go now.
enum StayReason {
    case isNoDocument
    /// By these processes.
    case isWritten([Int32])
    case isOpen([Int32])
    case isNotStored
    /// The store has not said yet in this mount whether the container still owns it.
    case isUnasked
    /// It was there when the container was copied, or was as it is again now.
    case isUncompared

    /// For a person. Asks the system who a process is, so not under the volume's lock.
    var text: String {
        switch self {
        case .isNoDocument: "it is not a document"
        case .isWritten(let threads): "it is being written" + Self.holders(threads)
        case .isOpen(let threads): "it is open" + Self.holders(threads)
        case .isNotStored: "it is not in the store yet"
        case .isUnasked:
            "the store has not answered since the container was mounted: it may have lost it"
        case .isUncompared:
            "the store may have lost it since the container was copied or an older state of it was given back, "
                + "and is being looked through"
        }
    }

    /// The programs, as far as they are still there: who opened a file may have left it to others.
    private static func holders(_ threads: [Int32]) -> String {
        var names: [String] = []
        for thread in threads {
            let name = CallerProcess.describe(thread) ?? "another program"
            if !names.contains(name) { names.append(name) }
        }
        if names.isEmpty { return "" }
        let shown = names.prefix(3).joined(separator: ", ")
        return " in " + shown + (names.count > 3 ? " and \(names.count - 3) more" : "")
    }
}
