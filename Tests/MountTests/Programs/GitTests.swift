import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: isInstalled("git"), "git is not installed"))
struct GitTests {
    /// Nothing of the machine's or the user's configuration.
    static let clean =
        "set -e; export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null "
        + "GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org "
        + "GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org; "

    @Test(arguments: DataPath.mounts.prefix(1))
    func `a repository lives through commits, clones, gc and fsck`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell(
                Self.clean
                    + """
                    git init -q repository && cd repository
                    for commit in 1 2 3 4 5 6; do
                        for file in $(seq 40); do
                            mkdir -p d$((file % 7))
                            seq $((file * commit)) $((file * 50)) > d$((file % 7))/f$file
                        done
                        ln -sf d1/f1 link; head -c 70000 /dev/urandom > binary-$commit
                        git add -A && git commit -qm "commit $commit"
                    done
                    git checkout -qb side HEAD~2 && cp d3/f3 other
                    git add other && git commit -qm side
                    git checkout -q - && git merge -q -m merged side
                    """)
            agent.shell(
                Self.clean
                    + """
                    git clone -q --no-hardlinks repository copy && cd copy
                    echo more >> d1/f1 && git commit -qam more
                    git mv d2 moved && git commit -qm moved
                    git gc -q --prune=now && git fsck --full --strict
                    cd ../repository && git pull -q ../copy HEAD && git repack -qad
                    git gc -q --aggressive && git fsck --full --strict
                    """)
            try volume.remount()
            let after = try volume.agent()
            #expect(after.shell(Self.clean + "git -C repository status --porcelain") == "")
            #expect(after.shell(Self.clean + "git -C copy status --porcelain") == "")
            after.shell(
                Self.clean
                    + """
                    git -C repository fsck --full --strict; git -C copy fsck --full --strict
                    diff -r -x .git repository copy
                    test "$(git -C repository rev-parse HEAD)" = "$(git -C copy rev-parse HEAD)"
                    test "$(git -C copy rev-list --count HEAD)" -ge 9
                    """)
        }
    }
}
