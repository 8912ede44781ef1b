import TestSupport
import Testing

/// Imports what `setup` makes, and refreshes once after `change`; both run in the source.
func refreshed(
    _ setup: String, here: String = ":", _ change: String,
    _ body: (Volume, Agent, _ source: String, _ told: String) throws -> Void
) throws {
    try withVolume(.passthrough) { volume in
        let source = "\(try #require(volume.container).base)/home/source"
        let agent = try volume.agent()
        agent.shell("mkdir -p \(source); cd \(source); \(setup)")
        try volume.shapeedit("import", "--promise", source, "@in")
        agent.shell("find in -mindepth 1 -printf '%i %f\\n' > ids; \(here)")
        agent.shell("cd \(source); \(change)")
        let told = try volume.shapeedit("import", "--refresh", "@in").text
        try body(volume, agent, source, told)
        agent.shell("! ls -A in | grep shapeedit-aside")
    }
}
