import Catalog
import Coordination
import Model
import SystemCalls

/// The grants of a container that is not mounted: it is opened for the moment, as by a mount.
struct ClosedGrants {
    private let name: String

    init(_ name: String) throws(Failure) {
        guard try Containers.exists(name) else {
            throw Failure(.noInput, "there is no container \(name)")
        }
        self.name = name
    }

    /// What is said when a folder is to be granted.
    static func isFolder(_ path: String) -> Failure {
        Failure(.usage, "\(path) is a folder; documents are granted one by one")
    }

    private func with<Result>(
        _ body: (Container) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let container = try Container(
            name, at: try Containers.path(name), holder: "having its grants looked at")
        defer { container.close() }
        return try body(container)
    }

    private static var now: Timestamp {
        let now = WallClock.now
        return Timestamp(seconds: now.seconds, nanoseconds: now.nanoseconds)
    }

    /// The document at a path below the root.
    private func document(
        _ path: String, in container: Container
    ) throws(Failure) -> DocumentID {
        let position = container.index.item(at: Array(path.utf8))
        guard position != 0 else {
            throw Failure(.noInput, "\(name):\(path): there is no such document")
        }
        let record = container.index[item: position]
        if record.pointee.isDirectory { throw Self.isFolder("\(name):\(path)") }
        guard record.pointee.isRegular else {
            throw Failure(.usage, "\(name):\(path) is not a document")
        }
        return DocumentID(rawValue: record.pointee.document)
    }

    private func record(
        _ effects: [Effect], of document: DocumentID, in container: Container
    ) throws(Failure) {
        container.log.append(
            Mutation(
                time: Self.now, kind: .granted, item: ItemNumber(rawValue: document.rawValue),
                process: processIdentifier(), effects: effects))
        try container.log.drain()
    }

    func grant(_ path: String, to application: String, _ terms: GrantTerms) throws(Failure) {
        try with { (container) throws(Failure) in
            let document = try document(path, in: container)
            let row = GrantRow(
                document: document, application: application, terms: terms, granted: Self.now)
            try record([.putGrant(row)], of: document, in: container)
        }
    }

    /// Takes the grant of an application away, or of all; those that were there.
    func revoke(_ path: String, from application: String?) throws(Failure) -> [String] {
        try with { (container) throws(Failure) in
            let document = try document(path, in: container)
            let found = container.grants.live(of: document, at: Self.now).map(\.application)
                .filter { application == nil || $0 == application }
            if !found.isEmpty {
                try record(
                    found.map { .removeGrant(document, application: $0) }, of: document,
                    in: container)
            }
            return found
        }
    }

    func list() throws(Failure) -> [ListedGrant] {
        try with { (container) throws(Failure) in
            container.grants.live(at: Self.now).compactMap { row in
                let position = container.index.holder(of: row.document)
                guard position != 0, let path = container.index.path(of: position) else {
                    return nil
                }
                return ListedGrant(
                    container: name, document: row.document.description,
                    path: String(decoding: path, as: UTF8.self), application: row.application,
                    access: row.terms.access.text, granted: row.granted.exactText,
                    until: row.terms.until?.exactText)
            }
        }
    }
}
