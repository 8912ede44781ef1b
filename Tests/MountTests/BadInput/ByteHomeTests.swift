import Probing
import TestSupport
import Testing

/// Homes whose paths are not UTF-8, as those of accounts that are older than it.
@Suite(.oneAtATime) struct ByteHomeTests {
    /// In the folder `home\xe9`, where all of a user's own is.
    private static let script = #"""
        set -e
        home=$(printf '%s/home\351' "$PWD")
        mkdir -p "$home/run" mount app
        chmod 700 "$home/run"
        unset XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_CONFIG_HOME
        export HOME="$home" TMPDIR="$home" XDG_RUNTIME_DIR="$home/run"
        "$0" container create --store "folder:$home/store" work
        test "$("$0" container list)" = work
        "$0" mount work mount
        "$0" new mount/a.list
        "$0" list add mount/a.list milk
        "$0" undo mount/a.list
        "$0" redo mount/a.list
        "$0" coordinate --write mount/a.list -- "$0" list add mount/a.list tea
        "$0" grant mount/a.list --to reader
        "$0" grants
        head -c 300000 /dev/zero > mount/large
        sync mount/large
        # The kernel tells a moment later that sync has let go of it.
        until "$0" evict mount/large 2> evict; do grep -qE 'not in the store|is open' evict; sleep 0.1; done
        "$0" mount --app reader app
        ls app/*/a.list
        "$0" unmount app
        kill -9 "$("$0" status --json mount | sed -n 's/^ *"pid": \([0-9]*\),$/\1/p')"
        "$0" mount work mount
        cmp mount/large /dev/zero -n 300000
        "$0" list show mount/a.list
        "$0" unmount mount
        "$0" container check work
        "$0" container info work
        "$0" container delete --force reader
        """#

    @Test func `a home whose path is not UTF-8 is as any other`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            let result = try run(
                ["sh", "-c", Self.script, try BuiltPrograms.shapeedit()], directory: container.base,
                environment: container.environment)
            #expect(result.status == 0, "\(result)")
            let agent = try Agent(in: container.base)
            let homes = agent.entries(".").map(\.name).filter { $0.text.hasPrefix("home") }
            let own = ByteString(Array("home".utf8) + [0xe9])
            #expect(Set(homes) == ["home", own])
            #expect(Set(agent.entries(own).map(\.name)).isSuperset(of: [".local", "run", "store"]))
            agent.end()
        }
    }
}
