internal import Coordination
internal import Documents
internal import FileSystem
internal import Glibc
internal import Model
internal import SystemCalls
internal import Varlink

extension ControlSocket {
    func query(_ parameters: JSONObject, _ reply: VarlinkReplier) {
        guard let text = parameters["query"]?.string, text.utf8.count <= Query.longest,
            let query = Query(text)
        else {
            return reply.send(VarlinkError.invalidParameter("query"))
        }
        guard let queries = volume.liveQueries else {
            return reply.send(VarlinkReply(error: "org.shapeedit.Control.Ending"))
        }
        let stream = QueryStream(reply)
        guard let id = queries.follow(query, stream) else {
            return reply.send(Self.tooMany(LiveQueries.most))
        }
        state.withLock { $0.holdings[reply.client, default: .init()].end = { queries.end(id) } }
        reply.send(stream)
    }
}

/// The results of a query and their changes on their way to a client.
private final class QueryStream: QueryFollower, VarlinkStream {
    /// Bytes of a message, about; a result more may be in it.
    private static let portion = 128 << 10
    /// Changes that a client has not taken, at most: results and indices of all batches.
    private static let most = 200_000

    /// A batch, or the first results, with how much of it is told.
    private struct Part {
        var added: [Found]
        /// Where they are; nil for the first results.
        var places: [Int]?
        var updated: [Found] = []
        var changed: [Int] = []
        var removed: [Int] = []
        var moved: [ListDifference.Move] = []
        var problem: String?
        /// How much of each list is told.
        var told = (removed: 0, moved: 0, added: 0, updated: 0)

        var count: Int { (places?.count ?? 0) + updated.count + removed.count + moved.count }
    }
    private struct State {
        var parts: [Part] = []
        var waiting = 0
        var end: Errno?
        var isOverfull = false
    }
    private let state = Lock(State())
    private let reply: VarlinkReplier

    init(_ reply: VarlinkReplier) { self.reply = reply }

    func take(_ news: QueryNews) {
        state.withLock { state in
            if state.isOverfull { return }
            switch news {
            case .gathered(let results, let problem):
                state.parts.append(Part(added: results, places: nil, problem: problem))
            case .changed(let batch):
                let difference = batch.difference
                let part = Part(
                    added: batch.added, places: difference.added, updated: batch.updated,
                    changed: difference.updated, removed: difference.removed,
                    moved: difference.moved)
                state.parts.append(part)
                state.waiting += part.count
                // One batch may be larger: all of the results can change at once.
                if state.waiting > Self.most, state.parts.count > 1 {
                    state.parts = []
                    state.isOverfull = true
                }
            case .ended(let error): state.end = error
            }
        }
        reply.wake()
    }

    func next() -> VarlinkPiece {
        state.withLock { state in
            if state.isOverfull { return .overfull }
            guard !state.parts.isEmpty else {
                return state.end.map { .last(Self.failure($0)) } ?? .nothing
            }
            var text = QueryText()
            let isWhole = Self.tell(&state.parts[0], &text)
            if isWhole { state.waiting -= state.parts.removeFirst().count }
            return .message(VarlinkReply.message(text.finished(isWhole: isWhole)))
        }
    }

    private static func failure(_ error: Errno) -> VarlinkReply {
        switch error.code {
        case ENOENT: VarlinkReply(error: "org.shapeedit.Control.NoSuchFolder")
        case ENOSPC: ControlSocket.tooMany(LiveQueries.most)
        case ENODEV: VarlinkReply(error: "org.shapeedit.Control.Ending")
        default: ControlSocket.failed(error.description)
        }
    }

    /// Adds as much of a part as a message takes; whether that was all.
    private static func tell(_ part: inout Part, _ text: inout QueryText) -> Bool {
        let changed = part.changed
        guard let places = part.places else {
            if part.told.added == 0, let problem = part.problem { text.add("problem", problem) }
            part.told.added = text.list("results", part.added, from: part.told.added, portion) {
                FoundLine.append($1, to: &$2)
            }
            return part.told.added == part.added.count
        }
        part.told.removed = text.list("removed", part.removed, from: part.told.removed, portion) {
            $2 += "\($1)".utf8
        }
        part.told.moved = text.list("moved", part.moved, from: part.told.moved, portion) {
            $2 += "{\"from\": \($1.from), \"to\": \($1.to)}".utf8
        }
        part.told.added = text.list("added", part.added, from: part.told.added, portion) {
            QueryText.put($1, places[$0], &$2)
        }
        part.told.updated = text.list("updated", part.updated, from: part.told.updated, portion) {
            QueryText.put($1, changed[$0], &$2)
        }
        return part.told
            == (part.removed.count, part.moved.count, part.added.count, part.updated.count)
    }
}

/// The parameters of a reply to a query, as text: there may be a hundred thousand results.
private struct QueryText {
    private var bytes = Array("{".utf8)

    mutating func add(_ name: String, _ text: String) {
        begin(name)
        bytes += JSONValue.string(text).line
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes += ", ".utf8 }
        bytes += "\"\(name)\": ".utf8
    }

    /// Adds a list from an index on until there are so many bytes; the index of the first that is not
    /// in it.
    mutating func list<Element>(
        _ name: String, _ elements: [Element], from start: Int, _ portion: Int,
        _ put: (Int, Element, inout [UInt8]) -> Void
    ) -> Int {
        guard start < elements.count, bytes.count < portion else { return start }
        begin(name)
        bytes.append(UInt8(ascii: "["))
        var index = start
        while index < elements.count, bytes.count < portion {
            if index > start { bytes += ", ".utf8 }
            put(index, elements[index], &bytes)
            index += 1
        }
        bytes.append(UInt8(ascii: "]"))
        return index
    }

    func finished(isWhole: Bool) -> [UInt8] {
        var result = bytes
        result += "\(bytes.count > 1 ? ", " : "")\"complete\": \(isWhole)}".utf8
        return result
    }

    /// A result with its index.
    static func put(_ found: Found, _ index: Int, _ bytes: inout [UInt8]) {
        bytes += "{\"index\": \(index), \"result\": ".utf8
        FoundLine.append(found, to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }
}
