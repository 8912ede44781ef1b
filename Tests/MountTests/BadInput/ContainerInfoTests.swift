import Probing
import TestSupport
import Testing

/// What `container info` tells.
@Suite(.oneAtATime) struct ContainerInfoTests {
    /// Contents that are drawn or read just now have a second name.
    @Test func `a content with two names takes its room once`() throws {
        try withBrokenContainer { broken in
            func bytes() throws -> Int {
                let told = try broken.container.command("container", "info", "test", "--json")
                let bytes = told.text.firstMatch(of: /"bytes": (\d+)/).flatMap { Int($0.1) }
                return try #require(bytes, "\(told)")
            }
            try broken.damage(
                "mkdir -p reading; dd if=/dev/zero of=staging/one bs=1M count=3 status=none")
            let before = try bytes()
            try broken.damage("ln staging/one reading/two")
            #expect(try bytes() == before)
            try broken.damage("cp staging/one reading/three")
            #expect(try bytes() == before + 3 << 20)
        }
    }
}
