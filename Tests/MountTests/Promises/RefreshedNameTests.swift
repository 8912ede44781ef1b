import Glibc
import Probing
import TestSupport
import Testing

/// What names lead to while a refresh has the kernel forget what they led to, and right after it.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct RefreshedNameTests {
    @Test func `who looks right after a refresh of many names finds what it made of them`() throws {
        let swap = """
            perl -e 'for (glob("*0"), glob("*2"), glob("*4"), glob("*6"), glob("*8")) {
                ($a, $b) = ($_, $_ + 1); rename $a, "t"; rename $b, $a; rename "t", $b }'
            """
        try refreshed("for i in $(seq 10000 12999); do echo $i > $i; done", swap) {
            volume, agent, source, _ in
            for _ in 0..<6 {
                // The kernel knows all names now, and is to forget them.
                agent.shell("cd in; stat -c '%n %i' * > ../before")
                agent.shell("cd \(source); \(swap)")
                try volume.shapeedit("import", "--refresh", "@in")
                // Those who watch the folder are being told meanwhile: what a listing has the kernel
                // know must not get another's name by that.
                agent.shell("for k in 1 2 3 4 5 6; do ls -f in > listed; done")
                agent.shell("cd in; ls -r | xargs stat -c '%n %i' > ../after")
                agent.shell(
                    """
                    awk 'NR % 2 { a = $1; i = $2; next } { print a, $2; print $1, i }' before > right
                    sort after | diff -q right -
                    """)
            }
        }
    }

    /// Nothing can be read of it any more: it is not to stay for ever because somebody had it open.
    @Test func `a document that is open to be written when it vanishes at its source goes later`()
        throws
    {
        try refreshed("echo one > one; echo other > other", ":") { volume, agent, source, _ in
            let writer = try volume.agent()
            agent.shell("mv in/one in/renamed; rm \(source)/one")
            let file = writer.open("in/renamed", O_WRONLY | O_APPEND)
            let told = try volume.shapeedit("import", "--refresh", "@in").text
            #expect(!told.contains("1 removed"), "\(told)")
            agent.shell("getfattr -n user.shapeedit.source in/renamed")
            writer.close(file)
            let later = try volume.shapeedit("import", "--refresh", "@in").text
            #expect(later.contains("1 removed"), "\(later)")
            #expect(agent.names("in") == ["other"])
        }
    }

    /// Told of 20 ms apart, as on a machine that is busy with much else.
    @Test(.enabled(if: isInstalled("strace"), "needs strace"))
    func `a refresh ends when all names are told of, however long that takes`() throws {
        try refreshed("for i in $(seq 100 399); do echo $i > $i; done", ":") {
            volume, agent, source, _ in
            let swap =
                "for i in $(seq 100 2 398); do mv $i t; mv $((i + 1)) $i; mv t $((i + 1)); done"
            agent.shell("cd in; stat -c '%n %i' * > ../before")
            agent.shell("cd \(source); \(swap)")
            let daemon = try #require(volume.container?.daemon)
            let tasks = "/proc/\(daemon)/task"
            let thread = try run([
                "sh", "-c", "grep -l '^name notifier$' \(tasks)/*/comm | cut -d/ -f5",
            ]).text.prefix { $0 != "\n" }
            let strace = try RunningProgram(
                [
                    "strace", "-qq", "-o", "/dev/null", "-p", String(thread),
                    "-e", "trace=writev", "-e", "inject=writev:delay_enter=20000",
                ].map { Array($0.utf8) })
            defer {
                strace.kill(signal: SIGTERM)
                _ = strace.wait(seconds: 60)
            }
            waitUntil {
                (try? run(["grep", "-q", "TracerPid:.[1-9]", "\(tasks)/\(thread)/status"]))?.status
                    == 0
            }
            try volume.shapeedit("import", "--refresh", "@in")
            agent.shell("cd in; stat -c '%n %i' * > ../after")
            agent.shell(
                """
                awk 'NR % 2 { a = $1; i = $2; next } { print a, $2; print $1, i }' before > right
                diff -q right after
                """)
        }
    }

    @Test func `who looks for a moved folder by its path is never told that it is stale`() throws {
        let look = """
            until (-e $ARGV[1]) { for $above (map { "$ARGV[0]/$_" } "A".."E") {
                opendir my $names, $above; for (readdir $names) {
                    $! = 0; lstat "$above/$_"; $stale .= " $_" if $!{ESTALE} } } }
            print "looked$stale\n"
            """
        let move = """
            srand($ARGV[0]); for (0..19) { next if rand() < 0.5;
                my ($d) = glob("*/d$_"); rename $d, ("A".."E")[rand 5] . "/d$_" }
            """
        let folders =
            "mkdir A B C D E; for i in $(seq 0 19); do mkdir -p A/d$i; echo $i > A/d$i/f; done"
        try refreshed(folders, ":") { volume, agent, source, _ in
            // Who watches has the moves told, one after the other.
            let watch = try volume.start([
                "inotifywait", "-m", "-r", "-q", "-o", "/dev/null", "\(volume.directory)/in",
            ])
            defer { watch.kill(signal: SIGTERM) }
            let lookers = try (0..<2).map { _ in
                try volume.start([
                    "perl", "-e", look, "\(volume.directory)/in", "\(source)/../stop",
                ])
            }
            for round in 0..<60 {
                agent.shell("cd \(source); perl -e '\(move)' \(round)")
                try volume.shapeedit("import", "--refresh", "@in")
            }
            agent.shell("touch \(source)/../stop")
            for looker in lookers { #expect(looker.wait(seconds: 60).text == "looked\n") }
        }
    }
}
