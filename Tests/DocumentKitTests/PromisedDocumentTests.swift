import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// Documents whose content is in the store when they are opened.
@Suite(.oneAtATime) struct PromisedDocumentTests {
    @Test func `why a content does not come is told by who reads it`() throws {
        try withVolume(.passthrough, store: "folder", options: ["store_timeout=1"]) { volume in
            let container = try #require(volume.container)
            let path = "\(volume.directory)/things.list"
            #expect(try container.command("new", path).status == 0)
            _ = try volume.run("sync", "things.list")
            try expectSoon { try container.command("evict", path).status == 0 }
            // Without what the kernel still has of it.
            try volume.remount()
            let away = container.storeFolder + ".away"
            #expect(rename(container.storeFolder, away) == 0)
            do {
                try Document<Text>(path).open()
                Issue.record("it came")
            } catch {
                #expect("\(error)".contains(container.storeFolder), "\(error)")
            }
            let read = try container.command("get", path)
            #expect(read.errorText.contains(container.storeFolder), "\(read)")
            #expect(rename(away, container.storeFolder) == 0)
            #expect(try container.command("get", path).status == 0)
        }
    }

    @Test func `outside of a container an attribute gives no reasons`() throws {
        try withVolume(.passthrough) { volume in
            let path = "\(try #require(volume.container).base)/home/doc"
            try store(path, "content")
            let words = "\u{1B}[2Jnot what happened"
            try PathAttributes.set("user.shapeedit.error", Array(words.utf8), of: path)
            for error in [Errno(EIO), Errno(ETIMEDOUT)] {
                #expect(ContentReason.words(error, path) == "\(error)")
            }
        }
    }

    @Test func `that a content has to come is told before it is there`() throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let container = try #require(volume.container)
            for content in ["far away", "bad"] {
                let path = "\(volume.directory)/\(content)"
                try store(path, content)
                _ = try volume.run("sync", content)
                try expectSoon { try container.command("evict", path).status == 0 }
                let states = Lock([DocumentState]())
                let document = Document<Text>(path) { event in
                    if case .stateChanged(let state) = event {
                        states.withLock { $0.append(state) }
                    }
                }
                let isDone = Monitor(false)
                // It waits for this, as for a store that is slow.
                try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in
                    Threads.start("opens") {
                        try? document.open()
                        isDone.signal { $0 = true }
                    }
                    expectSoon { states.withLock { $0 } == [.onItsWay] }
                    #expect(document.contents == nil)
                }
                let _: Bool? = isDone.wait { $0 ? true : nil }
                let end: DocumentState = content == "bad" ? [.closed, .editingDisabled] : []
                #expect(document.state == end)
                expectSoon { states.withLock { $0.last } == end }
                try document.close()
            }
        }
    }
}

extension DocumentState {
    fileprivate static let onItsWay: DocumentState = [
        .closed, .editingDisabled, .progressAvailable,
    ]
}
