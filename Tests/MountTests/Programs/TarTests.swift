import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: isInstalled("tar"), "tar is not installed"))
struct TarTests {
    static let create = "tar --xattrs --xattrs-include='user.*' --sparse --format=posix -cf"
    static let extract = "tar --xattrs --xattrs-include='user.*' --same-permissions -xf"

    @Test(
        .enabled(if: isInstalled("rsync"), "rsync, which compares, is not installed"),
        arguments: DataPath.mounts)
    func `an archive carries a tree in and out`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let outside = try SampleTree()
            defer { outside.remove() }
            let agent = try volume.agent()
            let compare = "rsync -aHAX -n -i --checksum --delete"
            let tree = outside.path
            agent.shell("\(Self.create) \(tree).tar -C \(tree) .")
            agent.shell("mkdir in && \(Self.extract) \(tree).tar -C in")
            #expect(agent.shell("\(compare) \(tree)/ in/") == "")
            // From the mount into the mount, and out again.
            agent.shell("\(Self.create) again.tar -C in . && mkdir again")
            agent.shell("\(Self.extract) again.tar -C again")
            #expect(agent.shell("\(compare) in/ again/") == "")
            try volume.remount()
            let after = try volume.agent()
            after.shell("mkdir \(tree).out && \(Self.extract) again.tar -C \(tree).out")
            #expect(after.shell("\(compare) \(tree)/ \(tree).out/") == "")
            after.shell("tar --compare -f again.tar -C in && tar --compare -f \(tree).tar -C again")
        }
    }
}
