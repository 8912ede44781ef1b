import Glibc
import Probing
import TestSupport
import Testing

/// A folder of contents whose disk is not there.
@Suite(.oneAtATime) struct DanglingShelfTests {
    /// Twice, since the second mount finds what the first has left.
    @Test func `a link that leads nowhere in the place of a folder of contents ends nobody`() throws
    {
        try withBrokenContainer { broken in
            let container = broken.container
            let blob = try broken.blob(of: "saved last")
            let shelf = "blobs/" + blob.dropFirst(6).prefix(2)
            try broken.damage("test ! -e \(shelf) && ln -s ../../nowhere \(shelf)")
            for _ in 1...2 {
                try broken.whileMounted { agent in
                    agent.store("a", "saved last")
                    // The keeper moves what was saved among the blobs then, or tries to.
                    agent.shell("sync a || true")
                    #expect(agent.content("a") == "saved last")
                }
                let check = try container.check()
                #expect(check.status == Int(EX_DATAERR), "\(check)")
                #expect(check.text.contains("\(shelf) does not belong there"), "\(check)")
            }
            try broken.damage("rm \(shelf)")
            try broken.whileMounted { agent in
                #expect(agent.content("a") == "saved last")
                agent.shell("sync a")
            }
            #expect(try container.check().status == 0)
            try broken.damage("test -f \(blob)")
        }
    }
}
