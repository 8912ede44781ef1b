import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct NameLockTests {
    /// The kernel is told to forget names of a directory that it has locked for requests whose answers
    /// come after something else that it is told.
    @Test(arguments: DataPath.mounts)
    func `writing files with several names while names change ends`(_ place: DataPath) throws {
        try withVolume(place) { volume in
            let agent = try volume.agent()
            agent.store("a", "one")
            agent.link("a", "b")
            let loops = [
                "echo two 1<> a; echo three 1<> b", "ln -f a c; rm -f b; ln c b",
                "mv -f c d; mv -f d a; ln a b", "rm -f d; ln b d; echo four 1<> d",
                "mkdir e; mv -f d e/d; mv -f e/d d; rmdir e", "echo five > a; ln -f a b",
                // truncate(2), not an open file's: the kernel locks the file for it.
                "perl -e 'for (1..2000) { truncate(\"a\", 3); truncate(\"b\", 2) }'",
                "perl -e 'for (1..2000) { unlink \"a\"; link \"b\", \"a\"; rename \"c\", \"b\" }'",
            ]
            let programs = try loops.map { loop in
                try RunningProgram(
                    ["timeout", "3", "sh", "-c", "while :; do \(loop); done 2> /dev/null"]
                        .map { Array($0.utf8) }, directory: volume.directory)
            }
            let deadline = time(nil) + 40
            while time(nil) < deadline, programs.contains(where: \.isRunning) { usleep(50_000) }
            if programs.contains(where: \.isRunning) {
                Issue.record("the mount does not answer")
                if let container = volume.container { MountTable.detach(container.mountPoint) }
            }
            for program in programs { _ = program.wait() }
            agent.store("after", "content")
            #expect(agent.content("after") == "content")
        }
    }
}
