import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: isInstalled("sqlite3"), "sqlite3 is not installed"))
struct SQLiteTests {
    /// Processes at the same time, and the rows each inserts.
    static let processes = 4
    static let rows = 40

    @Test(arguments: DataPath.mounts, ["delete", "truncate", "persist", "wal"])
    func `several processes write one database`(_ dataPath: DataPath, journal: String) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            let mode = agent.shell(
                "sqlite3 data.db 'pragma journal_mode=\(journal);"
                    + " create table t(writer, row, filling); create index i on t(filling)'")
            #expect(mode == "\(journal)\n")
            // Half of the transactions come from one long process, half from a new one each.
            let line = """
                pragmas='pragma journal_mode=\(journal); pragma synchronous=full;'
                writer() {
                    begin='begin immediate; insert into t values'
                    half=\(Self.rows / 2)
                    { echo .timeout 300000; echo "$pragmas"; for row in $(seq $half); do
                        echo "$begin($1, $row, hex(randomblob(700))); commit;"
                      done; } | sqlite3 -bail data.db > /dev/null || echo "writer $1 failed"
                    for row in $(seq $((half + 1)) \(Self.rows)); do
                        sqlite3 -bail -cmd '.timeout 300000' data.db \\
                            "$begin($1, $row, hex(randomblob(700))); commit;" ||
                            echo "writer $1 failed at row $row"
                    done
                }
                reader() {
                    for turn in $(seq 10); do
                        sqlite3 -cmd '.timeout 300000' data.db 'pragma integrity_check' | grep -vx ok
                    done
                }
                { for number in $(seq \(Self.processes)); do writer $number & done; reader & } | cat
                """
            #expect(agent.shell(line) == "")
            try volume.remount()
            let after = try volume.agent()
            let query =
                "pragma integrity_check; select count(*), count(distinct filling) from t;"
                + " select max(n), min(n) from (select count(*) n from t group by writer);"
            let total = Self.processes * Self.rows
            #expect(
                after.shell("sqlite3 data.db '\(query)'")
                    == "ok\n\(total)|\(total)\n\(Self.rows)|\(Self.rows)\n")
            #expect(
                after.names(".") == ["data.db"] || journal == "truncate" || journal == "persist")
        }
    }

    @Test(arguments: DataPath.mounts)
    func `a database is copied while it is open`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell(
                """
                set -e
                # One that closes last takes all locks for a moment, as on every file system.
                sqlite3() { command sqlite3 -cmd '.timeout 300000' "$@"; }
                sqlite3 a.db 'pragma journal_mode=wal; create table t(x)' > /dev/null
                sqlite3 a.db "with recursive c(n) as (select 1 union all select n + 1 from c limit 5000)
                    insert into t select hex(randomblob(100)) from c"
                { sqlite3 a.db '.backup b.db' & sqlite3 a.db 'vacuum into "c.db"' & } | cat
                for file in a b c; do
                    test "$(sqlite3 $file.db 'pragma integrity_check; select count(*) from t')" = "$(
                        printf 'ok\\n5000')"
                done
                sqlite3 a.db 'delete from t where rowid % 2' vacuum 'pragma wal_checkpoint(truncate)'
                test "$(sqlite3 a.db 'pragma integrity_check; select count(*) from t')" = "$(
                    printf 'ok\\n2500')"
                """)
        }
    }
}
