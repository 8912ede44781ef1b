internal import Documents
internal import Model

/// A query of a mounted container, by its control socket. The daemon gathers changes into batches.
final class MountQuery: QuerySource {
    private let mountPoint: String
    private let folder: String
    private let connection: ControlConnection
    private var list: [FoundItem] = []
    /// Why some of the first results may be missing.
    private(set) var problem: String?
    /// Batches since the last update, and how the first of them changed the list.
    private var batches = 0
    private var first = ListDifference()
    /// The batch that is not complete yet.
    private var part = Part()

    private struct Part {
        var results: [FoundItem] = []
        var removed: [Int] = []
        var moved: [ListDifference.Move] = []
        var added: [(index: Int, item: FoundItem)] = []
        var updated: [(index: Int, item: FoundItem)] = []
        var isComplete = false
    }

    /// Asks for the query.
    ///
    /// - Parameter query: its folder is below the mount.
    init(_ query: Query, in mountPoint: String) throws(Failure) {
        self.mountPoint = mountPoint
        folder = query.folder
        do throws(CoordinationError) {
            connection = try ControlConnection(mountPoint: mountPoint)
            try connection.send("Query", ["query": .string(query.description)], more: true)
        } catch { throw Self.failure(error, mountPoint) }
    }

    var descriptor: Int32 { connection.descriptor }
    var isBatched: Bool { true }

    func results() throws(Failure) -> [FoundItem] {
        while !part.isComplete { try take(try message(milliseconds: ControlConnection.patience)) }
        list = part.results
        part = Part()
        return list
    }

    func take() throws(Failure) -> Bool {
        let before = batches
        while let message = try message(milliseconds: nil) {
            try take(message)
            if part.isComplete { try apply() }
        }
        return batches > before
    }

    func update() -> (difference: ListDifference?, results: [FoundItem]) {
        defer { batches = 0 }
        return (batches == 1 ? first : nil, list)
    }

    // MARK: Messages

    /// The next message; without a time `nil` if there is none now.
    private func message(milliseconds: Int?) throws(Failure) -> [UInt8]? {
        do throws(CoordinationError) {
            return try connection.message(milliseconds: milliseconds)
        } catch {
            var reason = "\(error)"
            if case .unavailable(let why) = error { reason = why }
            throw Failure(.unavailable, "\(mountPoint): the mount went away: \(reason)")
        }
    }

    private static func failure(_ error: CoordinationError, _ mountPoint: String) -> Failure {
        switch error {
        case .tooMany(let reason):
            Failure(.temporary, "\(mountPoint): \(reason); try again when some have ended")
        case .unavailable(let reason): Failure(.unavailable, "\(mountPoint): \(reason)")
        case .notPermitted: FindFile.refused(mountPoint)
        default: Failure(.unavailable, "\(mountPoint): \(error)")
        }
    }

    private func take(_ message: [UInt8]?) throws(Failure) {
        guard let message else { return }
        let rest = takeResults(message)
        let object: JSONObject
        do throws(CoordinationError) { object = try connection.parameters(rest) } catch {
            if case .badPath = error {
                throw Failure(.noInput, "\(mountPoint)/\(folder): there is no such folder")
            }
            throw Self.failure(error, mountPoint)
        }
        for result in object["results"]?.array ?? [] {
            if let item = item(result) { part.results.append(item) }
        }
        if let problem = object["problem"]?.string { self.problem = problem }
        part.removed += (object["removed"]?.array ?? []).compactMap(\.integer)
        for move in object["moved"]?.array ?? [] {
            if let from = move.object?["from"]?.integer, let to = move.object?["to"]?.integer {
                part.moved.append(.init(from: from, to: to))
            }
        }
        part.added += placed(object["added"])
        part.updated += placed(object["updated"])
        part.isComplete = object["complete"]?.boolean ?? false
    }

    /// First results are read as they come, because there may be a hundred thousand; what is left of the
    /// message without them.
    private func takeResults(_ message: [UInt8]) -> [UInt8] {
        let head = Array("{\"parameters\": {\"results\": [".utf8)
        guard message.starts(with: head) else { return message }
        var end = head.count
        message.withUnsafeBytes { bytes in
            var reader = ResultReader(bytes, from: end, in: mountPoint)
            let prefix = mountPoint + "/"
            // Behind the results stands nothing that is like one.
            while bytes[end] != UInt8(ascii: "]"), let result = reader.next() {
                part.results.append(result.item(below: prefix))
                end = reader.place
            }
        }
        return head + message[end...]
    }

    private func item(_ value: JSONValue?) -> FoundItem? {
        value?.object.flatMap { FoundItem($0, in: mountPoint) }
    }

    private func placed(_ value: JSONValue?) -> [(Int, FoundItem)] {
        (value?.array ?? []).compactMap { element in
            guard let index = element.object?["index"]?.integer,
                let item = item(element.object?["result"])
            else { return nil }
            return (index, item)
        }
    }

    private func apply() throws(Failure) {
        let difference = ListDifference(
            removed: part.removed, added: part.added.map(\.index), moved: part.moved,
            updated: part.updated.map(\.index))
        guard difference.fits(list.count) else {
            throw Failure(.software, "\(mountPoint): the mount's daemon sent what fits no list")
        }
        difference.apply(
            to: &list, added: part.added.map(\.item), updated: part.updated.map(\.item))
        if batches == 0 { first = difference }
        batches += 1
        part = Part()
    }
}
