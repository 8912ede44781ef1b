import Glibc
import Probing
import TestSupport
import Testing

/// Two mounted containers of one user: an owner with a few documents, and an app.
final class OwnerAndApp {
    let owner: Volume
    /// Mounted as an app; its container is called `notes`.
    let app: Container
    private let place: DataPath
    private var agents: [Agent] = []

    fileprivate init(_ owner: Volume, _ place: DataPath) throws {
        self.owner = owner
        self.place = place
        let container = try #require(owner.container)
        app = try Container(
            name: "notes", user: container.user, dataHome: container.dataHome)
        do { try mountApp() } catch {
            app.remove()
            throw error
        }
    }

    func mountApp() throws {
        var options: [String] = []
        if place == .noPassthrough { options.append("no_passthrough") }
        try app.mount(options: options, asApp: true)
    }

    /// The owner's container.
    var ownerContainer: Container {
        get throws { try #require(owner.container) }
    }

    /// A process in the app's mount.
    func appAgent() throws -> Agent {
        let agent = try Agent(in: app.mountPoint, user: app.user)
        agents.append(agent)
        return agent
    }

    /// Runs the program for a document below the owner's `work`, which must succeed.
    @discardableResult
    func run(
        _ command: String, _ document: String, _ words: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try app.command([command, "\(owner.directory)/\(document)"] + words)
        #expect(result.status == 0, "\(command) \(document): \(result)", sourceLocation: location)
        return result.text
    }

    func endAppAgents() {
        for agent in agents { agent.end() }
        agents = []
    }

    fileprivate func remove(at location: SourceLocation) {
        endAppAgents()
        if let daemon = app.daemon, !Container.isAlive(daemon) {
            Issue.record("the app's daemon died during the test", sourceLocation: location)
        }
        do {
            if MountTable.isMounted(app.mountPoint) { try app.unmount() }
            let check = try app.check()
            if check.status != 0 {
                Issue.record("check of the app's container: \(check)", sourceLocation: location)
            }
        } catch {
            Issue.record("\(error)", sourceLocation: location)
        }
        app.remove()
    }
}

/// Gives a test two mounts, the owner's with `work/a.txt` ("one") and `work/secret.txt`.
///
/// - Parameter store: the owner's.
func withOwnerAndApp(
    _ place: DataPath, store: String? = nil, at location: SourceLocation = #_sourceLocation,
    _ body: (OwnerAndApp) throws -> Void
) throws {
    try withVolume(place, store: store, at: location) { volume in
        let agent = try volume.agent()
        agent.store("a.txt", "one")
        agent.store("secret.txt", "nobody's business")
        // Nobody stands in the mount.
        volume.endAgents()
        let both = try OwnerAndApp(volume, place)
        defer { both.remove(at: location) }
        try body(both)
    }
}
