import Glibc
import Probing
import TestSupport
import Testing

/// Whom a rename takes with it of those that wait for a claim.
@Suite(.oneAtATime) struct WaitingClaimTests {
    @Test func `who waits follows what a command moves under its claim`() throws {
        try withVolume(.passthrough) { volume in
            try volume.agent().store("file", "x")
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run(
                binary, "coordinate", "--move", "file", "--timeout", "20", "--", "sh", "-ec",
                """
                path=$PWD/file
                (cd / && exec '\(binary)' coordinate --read "$path" --purpose other -- true) &
                until '\(binary)' claims . | grep -q 'waits for read'; do sleep 0.05; done
                mv file other
                '\(binary)' claims . | grep -o 'waits for read on [a-z/]*'
                """)
            #expect(result.status == 0, "\(result)")
            #expect(result.text == "waits for read on work/other\n", "\(result)")
        }
    }

    /// As in the middle of a save that keeps a backup; a second writer was let in.
    @Test func `a symlink whose document is away for a moment is claimed as the document`() throws {
        try withVolume(.passthrough) { volume in
            _ = try volume.run(
                "sh", "-ec", "mkdir folder; ln -s folder/file first; ln -s first second")
            let binary = try BuiltPrograms.shapeedit()
            let result = try volume.run(
                binary, "coordinate", "--write", "second", "--", "sh", "-ec",
                """
                '\(binary)' claims .
                cd /
                '\(binary)' coordinate --write "$OLDPWD/folder/file" --purpose other --timeout 0.1 -- true
                """)
            #expect(result.text.contains("write on work/folder/file"), "\(result)")
            #expect(result.status == EX_TEMPFAIL, "\(result)")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `who waits for a document does not follow it to its backup`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.store("file", "old")
            let binary = try BuiltPrograms.shapeedit()
            // The first waits when the document is renamed away, the second asks for the new one.
            let result = try volume.run(
                binary, "coordinate", "--write", "file", "--timeout", "20", "--", "sh", "-ec",
                """
                add() {
                    cd /
                    exec '\(binary)' coordinate --write "$path" --purpose "$1" -- sh -c \
                        'n=$(cat "$0"); sleep 1; echo $((n + 1)) > "$0"' "$path" > /dev/null 2>&1
                }
                waiting() { '\(binary)' claims . | grep -c "waits for write on work/file since" || true; }
                path=$PWD/file
                (add first) &
                until [ "$(waiting)" = 1 ]; do sleep 0.05; done
                mv file file~
                echo 0 > file
                waiting
                (add second) &
                until '\(binary)' claims . | grep -c 'waits for write' | grep -q 2; do sleep 0.05; done
                rm file~
                """)
            #expect(result.status == 0, "\(result)")
            #expect(result.text == "1\n", "\(result)")
            // One after the other, so that neither loses what the other wrote.
            waitUntil(seconds: 20) { agent.content("file") == "2\n" }
            #expect(agent.content("file") == "2\n")
        }
    }
}
