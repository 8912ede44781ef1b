import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: isInstalled("rsync"), "rsync is not installed"))
struct RsyncTests {
    @Test(arguments: DataPath.mounts)
    func `a tree goes in and out and stays the same`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let outside = try SampleTree()
            defer { outside.remove() }
            let agent = try volume.agent()
            let compare = "rsync -aHAX -n -i --checksum --delete"
            agent.shell("rsync -aHAX \(outside.path)/ in/")
            #expect(agent.shell("\(compare) \(outside.path)/ in/") == "")
            agent.shell("rsync -aHAX --sparse in/ \(outside.path).out/")
            #expect(agent.shell("\(compare) \(outside.path)/ \(outside.path).out/") == "")
            // The ways rsync changes files that are there.
            outside.change()
            for options in ["", "--inplace", "--append-verify", "--delay-updates", "--sparse"] {
                agent.shell("rsync -aHAX \(options) --delete \(outside.path)/ in/")
                #expect(agent.shell("\(compare) \(outside.path)/ in/") == "", "\(options)")
                outside.change()
            }
            agent.shell("rsync -aHAX --delete \(outside.path)/ in/")
            try volume.remount()
            let after = try volume.agent()
            #expect(after.shell("\(compare) \(outside.path)/ in/") == "")
            after.shell("diff -r --no-dereference \(outside.path)/plain in/plain")
        }
    }
}
