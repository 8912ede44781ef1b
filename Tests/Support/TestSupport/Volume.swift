internal import Glibc
package import Probing
package import Testing

/// The user tests act as where they need one without rights: `nobody`.
package let nobody = 65534
/// Another user without rights.
package let somebody = 65533

/// A place where a test makes files: a directory in a fresh mount, or an ordinary one.
/// Not for several threads at once.
package final class Volume {
    /// What it is.
    package let dataPath: DataPath
    /// The directory; agents start in it. Empty at first, mode 0755.
    package let directory: String
    /// The mounted container; nil on an ordinary directory.
    package let container: Container?

    private var agents: [Agent] = []
    private let mountOptions: [String]

    fileprivate init(_ dataPath: DataPath, store: String?, options mountOptions: [String]) throws {
        self.mountOptions = mountOptions
        self.dataPath = dataPath
        guard dataPath != .plain else {
            directory = try TemporaryDirectory.make(below: DataPath.plainDirectory)
            container = nil
            return
        }
        let isOrdinary = dataPath == .ordinaryUser && DataPath.isPrivileged
        let container = try Container(user: isOrdinary ? nobody : nil, store: store)
        self.container = container
        directory = "\(container.mountPoint)/work"
        do {
            try mount()
            let maker = try Agent(in: container.mountPoint, user: isOrdinary ? nobody : nil)
            maker.makeDirectory("work")
            maker.end()
        } catch {
            container.remove()
            throw error
        }
    }

    /// Another process in this volume's directory, by default as the user who mounted it.
    package func agent(
        user: Int? = nil, group: Int? = nil, groups: [Int] = []
    ) throws -> Agent {
        let user = user ?? container?.user
        let agent = try Agent(in: directory, user: user, group: group, groups: groups)
        agents.append(agent)
        return agent
    }

    /// The mount's root.
    package var root: ByteString { ByteString(container?.mountPoint ?? directory) }

    /// Runs a program in this volume's directory as the user who mounted it.
    package func run(_ words: String..., seconds: Double = 300) throws -> ProgramResult {
        try start(words).wait(seconds: seconds)
    }

    /// Starts a program as ``run(_:seconds:)`` does, with these as its standard input and output.
    package func start(
        _ words: [String], input: Int32? = nil, output: Int32? = nil
    ) throws -> RunningProgram {
        let prefix = container?.user.map {
            ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"]
        }
        return try RunningProgram(
            ((prefix ?? []) + ["env", "-C", directory] + words).map { Array($0.utf8) },
            environment: container?.environment, input: input, output: output)
    }

    /// Ends all agents, unmounts and mounts again; nothing on an ordinary directory.
    package func remount() throws {
        endAgents()
        guard let container else { return }
        try container.unmount()
        try mount()
    }

    /// Mounts again after ``Container/killDaemon()``.
    package func remountAfterCrash() throws { try mount() }

    /// Ends all agents; what they have open is closed.
    package func endAgents() {
        for agent in agents { agent.end() }
        agents = []
    }

    private func mount() throws {
        var options = mountOptions
        if dataPath != .ordinaryUser { options.append("allow_other") }
        if dataPath == .noPassthrough { options.append("no_passthrough") }
        try container?.mount(options: options)
    }

    fileprivate func remove(at location: SourceLocation) {
        endAgents()
        guard let container else { return TemporaryDirectory.remove(directory) }
        if let daemon = container.daemon, !Container.isAlive(daemon) {
            Issue.record("the daemon died during the test", sourceLocation: location)
        }
        do {
            if MountTable.isMounted(container.mountPoint) { try container.unmount() }
            let check = try container.check()
            if check.status != 0 {
                Issue.record("container check: \(check)", sourceLocation: location)
            }
        } catch {
            Issue.record("\(error)", sourceLocation: location)
        }
        container.remove()
    }
}

/// Gives a test a fresh volume, and takes it away whatever happens. A daemon that died and a
/// container that is not sound afterwards are recorded as issues of the test. `store` is the
/// container's, as ``Container`` takes it.
package func withVolume(
    _ dataPath: DataPath, store: String? = nil, options: [String] = [],
    at location: SourceLocation = #_sourceLocation, _ body: (Volume) throws -> Void
) throws {
    try TestTime.spare(dataPath)
    let volume = try Volume(dataPath, store: store, options: options)
    defer { volume.remove(at: location) }
    try body(volume)
}
