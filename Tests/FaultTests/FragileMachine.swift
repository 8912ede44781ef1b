import Probing
import TestSupport
import Testing

/// A machine with one container, on a disk that can lose power.
final class FragileMachine {
    let disk: FragileDisk
    let container: Container

    /// Makes the disk and a container on it, which is not mounted.
    init(mebibytes: Int = 512, inodeSize: Int = 256, store: String? = nil) throws {
        disk = try FragileDisk(mebibytes: mebibytes, inodeSize: inodeSize)
        do {
            container = try Container(dataHome: "\(disk.mountPoint)/data", store: store)
        } catch {
            disk.remove()
            throw error
        }
    }

    /// Mounts the container; a new agent works in it.
    func start() throws -> Agent {
        try container.mount()
        return try Agent(in: container.mountPoint)
    }

    /// Power goes at this moment and comes back; the container is mounted, and read by a new agent.
    /// The agents, which work in the container, end with its daemon.
    func restart(ending agents: [Agent]) throws -> Agent {
        try disk.losePower()
        try container.killDaemon()
        for agent in agents { agent.end() }
        try returnPower()
        return try start()
    }

    /// Goes on with what the disk had when it lost power: the container sees that another boot wrote
    /// it. Nobody may use the disk.
    func returnPower() throws {
        try disk.returnPower()
        let result = try run([
            "sqlite3", "\(container.folder)/catalog.sqlite",
            "update meta set value = 'another' where key = 'boot'; select changes();",
        ])
        try #require(result.text == "1\n", "\(result)")
    }

    /// Removes both.
    func remove() {
        container.remove()
        disk.remove()
    }
}
