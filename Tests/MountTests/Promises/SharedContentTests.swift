import Glibc
import Probing
import TestSupport
import Testing

/// Letting a content go that several documents or versions have, or that has no bytes.
@Suite(.oneAtATime, .enabled(if: isInstalled("getfattr"), "needs getfattr"))
struct SharedContentTests {
    @Test(arguments: DataPath.ofPromises)
    func `a document that was emptied can be let go, and comes again without its store`(
        _ dataPath: DataPath
    ) throws {
        try withVolume(dataPath, store: "folder", options: ["store_timeout=3"]) { volume in
            let before = try volume.agent()
            before.shell("echo words > one; sync one; : > one; cp /dev/null two; : > two")
            try volume.evictAll()
            // Without what the kernel still has of them.
            try volume.remount()
            let agent = try volume.agent()
            let store = try #require(volume.container).storeFolder
            #expect(rename(store, store + ".away") == 0)
            #expect(agent.content("one") == "")
            agent.shell("cat two two; truncate -s 5 two; echo more >> one")
            #expect(agent.content("one") == "more\n")
            #expect(agent.shell("wc -c < two") == "5\n")
            #expect(try volume.fetchedBytes() == 0)
            #expect(rename(store + ".away", store) == 0)
            agent.shell("truncate -s 0 one two")
            try volume.evictAll()
            try volume.shapeedit("materialize", "@one")
            #expect(try volume.state("one") == "local")
        }
    }

    @Test(.enabled(if: isInstalled("curl"), "needs curl"))
    func `who waits for a document is not told that another with the same content was cancelled`()
        throws
    {
        let server = try FaultyServer(.webDAV, name: "shared")
        defer { server.stop() }
        try server.request("MKCOL", "/")
        try withVolume(.passthrough, store: server.address) { volume in
            let agent = try volume.agent()
            agent.shell("head -c 15000 /dev/urandom > one; cp one two; cp one three; cp one ../own")
            try volume.evictAll()
            // 1 KiB/s.
            try server.plan("GET slow")
            try volume.shapeedit("pin", "@three")
            let reader = try volume.start(["cmp", "two", "../own"])
            try waitUntil { try volume.state("two") == "downloading" }
            let materialize = try volume.start(
                [try BuiltPrograms.shapeedit(), "materialize", "one"])
            try waitUntil { try volume.state("one") == "downloading" }
            try volume.shapeedit("cancel", "@one")
            let cancelled = materialize.wait(seconds: 5)
            #expect(cancelled.status == 69, "\(cancelled)")
            #expect(cancelled.errorText.contains("cancelled"), "\(cancelled)")
            #expect(try volume.state("one") == "promise")
            try volume.shapeedit("evict", "@one")
            let read = reader.wait(seconds: 60)
            #expect(read.status == 0, "\(read)")
            try waitUntil { try volume.state("three") == "local" }
            try volume.shapeedit("evict", "@two")
            #expect(try volume.state("one") == "promise")
            #expect(try volume.state("three") == "local")
            #expect(try volume.fetchedBytes() == 15_000)
        }
    }

    @Test(.enabled(if: isInstalled("setfattr"), "needs setfattr"))
    func `that an earlier version has come is told, and its document is a promise to all who ask`()
        throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            let keepApart = "setfattr -n user.shapeedit.apart -v current doc"
            agent.shell("echo one > doc")
            try volume.evictAll()
            agent.shell("\(keepApart); echo two > doc; \(keepApart); echo one > doc")
            try volume.evictAll()
            let top = "\(volume.root.text)/.shapeedit"
            let sequence = #"s/.*"lastChange": \([0-9]*\).*/\1/p"#
            let last = try volume.run("sed", "-n", sequence, "\(top)/status.json").text
                .filter(\.isNumber)
            #expect(agent.shell("cat \(top)/versions/work/doc/* | sort -u") == "one\ntwo\n")
            let events = "\(top)/events-\(last)"
            let told = try volume.run("timeout", "30", "grep", "-q", "materialized", events)
            #expect(told.status == 0, "nothing was told")
            #expect(try volume.state("doc") == "promise")
            #expect(try volume.shapeedit("find", "--promises", "@.").text.contains("doc"))
            try volume.shapeedit("evict", "@doc")
            #expect(
                agent.shell(
                    "getfattr --only-values -n user.shapeedit.state \(top)/versions/work/doc/*-1")
                    == "promise")
        }
    }

    @Test func `a document that was saved again with the same bytes can be let go`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            // Elsewhere: nobody lets it go.
            let bytes = "\(try #require(volume.container).base)/home/bytes"
            agent.shell("head -c 300000 /dev/urandom > \(bytes); cat \(bytes) > one")
            // What is replaced sooner is no version that anybody looked at.
            usleep(2_200_000)
            agent.shell("cat \(bytes) > one; cp one other")
            usleep(2_200_000)
            agent.shell("echo else > other")
            let versions = "\(volume.root)/.shapeedit/versions/work"
            #expect(agent.names("\(versions)/one").count == 1)
            try volume.evictAll()
            #expect(try volume.state("one") == "promise")
            // Nothing of it is left here, whatever other versions have the same bytes: when those have
            // their hashes, too.
            try waitUntil {
                try volume.shapeedit("evict", "@.")
                return try volume.blobs().local.isEmpty
            }
            #expect(try volume.blobs().local.isEmpty)
            agent.shell("cmp \(versions)/one/* \(bytes) && cmp \(versions)/other/* \(bytes)")
            #expect(agent.content("other") == "else\n")
        }
    }

    @Test func `one of two documents with the same content is a promise when it was let go`() throws
    {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.shell("head -c 300000 /dev/urandom > ../bytes; cp ../bytes one; cp one two")
            try volume.settle()
            let before = try volume.fetchedBytes()
            try volume.shapeedit("evict", "@one")
            #expect(try volume.state("one") == "promise")
            #expect(try volume.state("two") == "local")
            // Its bytes are here for the other: nothing has to come.
            agent.shell("cmp one ../bytes")
            #expect(try volume.fetchedBytes() == before)
            #expect(try volume.state("one") == "local")
            // The one that came may just be being put on the disk.
            try waitUntil { try volume.outcome("evict", "@one", "@two").status == 0 }
            #expect(try volume.state("one") == "promise")
            #expect(try volume.state("two") == "promise")
            #expect(try volume.blobs().local.isEmpty)
            agent.shell("cmp two ../bytes && cmp one ../bytes")
        }
    }
}
