import Glibc
import Probing
import TestSupport
import Testing

/// Contents that come while the container's disk is full.
@Suite(.oneAtATime, .enabled(if: SmallDisk.canBeMade, Comment(rawValue: SmallDisk.reason)))
struct FullDiskPromiseTests {
    @Test func `a promise that finds no room is an error, and comes when there is some`() throws {
        let disk = try SmallDisk(mebibytes: 64)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint, store: "folder")
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        agent.shell("head -c 200000 /dev/urandom > small; head -c 9000000 /dev/urandom > large")
        let sums = agent.shell("sha256sum small large; sync small large")
        try waitUntilUploaded(container)
        let evicted = try container.command(
            "evict", "\(container.mountPoint)/small", "\(container.mountPoint)/large")
        #expect(evicted.status == 0, "\(evicted)")
        agent.end()
        // Without what the kernel still has of them.
        try container.unmount()
        try container.mount()
        let after = try Agent(in: container.mountPoint)
        let filling = "\(disk.mountPoint)/filling"
        _ = try run([
            "sh", "-c",
            "cat /dev/zero > \(filling); i=0; while head -c 900 /dev/zero > \(filling).$i; do i=$((i + 1)); done",
        ])
        _ = after.open("small", O_RDONLY, fails: ENOSPC, EIO)
        // Its map may find no room either; then even the open fails.
        after.shell("! dd if=large bs=1000000 skip=8 count=1 of=/dev/null")
        let reason = try run([
            "getfattr", "--only-values", "-n", "user.shapeedit.error",
            "\(container.mountPoint)/small",
        ])
        // And not the store's, which would be another one.
        #expect(reason.text.hasPrefix("the container's disk: "), "\(reason)")
        #expect(after.names(".").contains("large"))
        _ = try run(["sh", "-c", "rm \(filling)*"])
        #expect(after.shell("sha256sum small large") == sums)
        after.end()
        try container.unmount()
        let check = try container.check()
        #expect(check.status == 0, "container check: \(check)")
    }

    @Test func `a full disk is not called the store's when contents are taken from there`() throws {
        let disk = try SmallDisk(mebibytes: 64)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint, store: "folder")
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        let sum = agent.shell(
            "echo s > small; head -c 9000000 /dev/urandom > large; sha256sum large; sync large small"
        )
        try waitUntilUploaded(container)
        let evicted = try container.command("evict", "\(container.mountPoint)/large")
        #expect(evicted.status == 0, "\(evicted)")
        agent.end()
        try container.unmount()
        let filling = "\(disk.mountPoint)/filling"
        let filled = try run([
            "sh", "-c",
            "fallocate -l $(($(df --output=avail -B1 \(disk.mountPoint) | tail -1) - 6000000)) \(filling)",
        ])
        #expect(filled.status == 0, "\(filled)")
        let other = "folder:\(container.base)/home/other"
        for target in ["none", other] {
            let moved = try container.command("container", "move-store", container.name, target)
            #expect(moved.status == Int(EX_IOERR), "\(moved)")
            #expect(moved.errorText.contains("No space left"), "\(moved)")
            #expect(!moved.errorText.contains("the store"), "\(moved)")
        }
        _ = try run(["rm", filling])
        let moved = try container.command("container", "move-store", container.name, "none")
        #expect(moved.status == 0, "\(moved)")
        try container.mount()
        let after = try Agent(in: container.mountPoint)
        #expect(after.shell("sha256sum large") == sum)
        after.end()
    }

    @Test func `a promise that does not fit leaves the room to others`() throws {
        let disk = try SmallDisk(mebibytes: 128)
        defer { disk.remove() }
        let container = try Container(dataHome: disk.mountPoint, store: "folder")
        defer { container.remove() }
        try container.mount()
        let agent = try Agent(in: container.mountPoint)
        agent.shell("head -c 200000 /dev/urandom > small; head -c 40000000 /dev/urandom > large")
        let sum = agent.shell("sha256sum large; sync small large")
        try waitUntilUploaded(container)
        agent.end()
        try container.unmount()
        try container.mount()
        let evicted = try container.command("evict", "\(container.mountPoint)/large")
        #expect(evicted.status == 0, "\(evicted)")
        let filling = "\(disk.mountPoint)/filling"
        let filled = try run([
            "sh", "-c",
            "fallocate -l $(($(df --output=avail -B1 \(disk.mountPoint) | tail -1) - 20000000)) \(filling)",
        ])
        #expect(filled.status == 0, "\(filled)")
        let after = try Agent(in: container.mountPoint)
        after.shell("! cat large > /dev/null")
        // The room is there when the file is closed for the daemon, of which the kernel tells it after
        // close() has returned.
        after.shell(
            "i=0; until head -c 3000000 /dev/urandom > new || [ $i = 50 ]; do "
                + "i=$((i + 1)); sleep 0.1; done; [ $(stat -c %s new) = 3000000 ]")
        _ = try run(["rm", filling])
        #expect(after.shell("sha256sum large") == sum)
        after.end()
    }

    /// What is not there after a minute does not come.
    private func waitUntilUploaded(_ container: Container) throws {
        for _ in 0..<600 {
            let state = try run([
                "getfattr", "--only-values", "-n", "user.shapeedit.state",
                "\(container.mountPoint)/small", "\(container.mountPoint)/large",
            ])
            if state.text == "locallocal" { return }
            usleep(100_000)
        }
        Issue.record("not everything was uploaded")
    }
}
