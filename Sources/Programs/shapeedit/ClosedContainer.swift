import Catalog
import Coordination
import Model
import SystemCalls

/// A container that is not mounted: it is opened for the moment, as by a mount.
struct ClosedContainer {
    let name: String
    /// What is said to others who want it meanwhile: "having its grants looked at". They wait for what
    /// begins like this.
    private let holder: String

    init(_ name: String, holder: String) throws(Failure) {
        try Containers.checkExists(name)
        self.name = name
        self.holder = holder
    }

    func with<Result>(
        _ body: (Container) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let container = try Container(name, at: try Containers.path(name), holder: holder)
        defer { container.close() }
        return try body(container)
    }
}

extension Container {
    /// Makes a change to a document's standing, durably.
    func record(
        _ kind: ChangeKind, of document: DocumentID, _ effects: [Effect]
    ) throws(Failure) {
        log.append(
            Mutation(
                time: Timestamp(WallClock.now), kind: kind,
                item: ItemNumber(rawValue: document.rawValue), process: processIdentifier(),
                effects: effects))
        try log.drain()
    }
}
