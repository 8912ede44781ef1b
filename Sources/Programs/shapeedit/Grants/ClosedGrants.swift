import Catalog
import Coordination
import Model
import PathText
import SystemCalls

/// The grants of a container that is not mounted.
struct ClosedGrants {
    private let container: ClosedContainer

    init(_ name: String) throws(Failure) {
        container = try ClosedContainer(name, holder: "having its grants looked at")
    }

    /// What is said when a folder is to be granted.
    static func isFolder(_ path: String) -> Failure {
        Failure(.usage, "\(path) is a folder; documents are granted one by one")
    }

    private var name: String { container.name }

    /// The document at a path below the root.
    private func document(
        _ path: String, in container: Container
    ) throws(Failure) -> DocumentID {
        let position = container.index.item(at: path.pathBytes)
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

    func grant(_ path: String, to application: String, _ terms: GrantTerms) throws(Failure) {
        try container.with { (container) throws(Failure) in
            let document = try document(path, in: container)
            let row = container.grants.granting(
                document, to: application, terms, at: Timestamp(WallClock.now))
            try container.record(.granted, of: document, [.putGrant(row)])
        }
    }

    /// Takes the grant of an application away, or of all; those that were there.
    func revoke(_ path: String, from application: String?) throws(Failure) -> [String] {
        try container.with { (container) throws(Failure) in
            let document = try document(path, in: container)
            let live = container.grants.live(of: document, at: Timestamp(WallClock.now))
            let found = live.map(\.application)
                .filter { application == nil || $0 == application }
            if !found.isEmpty {
                try container.record(
                    .granted, of: document,
                    found.map { .removeGrant(document, application: $0) })
            }
            return found
        }
    }

    func list() throws(Failure) -> [ListedGrant] {
        try container.with { (container) throws(Failure) in
            container.grants.live(at: Timestamp(WallClock.now)).compactMap { row in
                let position = container.index.holder(of: row.document)
                guard position != 0, let path = container.index.path(of: position) else {
                    return nil
                }
                return ListedGrant(
                    container: name, document: row.document.description,
                    path: String(path: path), application: row.application,
                    access: row.terms.access.text, granted: row.granted.exactText,
                    until: row.terms.until?.exactText)
            }
        }
    }
}
