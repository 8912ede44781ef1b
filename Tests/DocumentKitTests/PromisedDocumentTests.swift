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

    /// Saves a document and lets its content go to the store.
    private func promise(_ content: String, at path: String, in volume: Volume) throws {
        let container = try #require(volume.container)
        try store(path, content)
        _ = try volume.run("sync", path)
        try expectSoon { try container.command("evict", path).status == 0 }
    }

    /// Opens a document on a thread, cancels that when it waits, and gives what the opening threw.
    private func cancel(
        _ document: Document<Text>, when isWaiting: () -> Bool
    ) -> CoordinationError? {
        let outcome = Monitor<Result<Void, any Error>?>(nil)
        Threads.start("opens") {
            let result = Result { try document.open() }
            outcome.signal { $0 = result }
        }
        expectSoon { isWaiting() }
        // It may not have begun.
        expectSoon {
            document.cancelOpening()
            return outcome.withLock { $0 } != nil
        }
        guard case .failure(let error)? = outcome.withLock({ $0 }) else { return nil }
        #expect(document.state == [.closed, .editingDisabled])
        return error as? CoordinationError
    }

    @Test(arguments: places)
    func `an opening that waits for others can be cancelled, and begun again`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            try store(path, "one")
            let document = Document<Text>(path)
            document.cancelOpening()
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in
                #expect(
                    cancel(document) {
                        // Elsewhere nobody tells who waits.
                        guard place != .plain else { return true }
                        let claims = try? FileCoordinator.claims(around: path).list
                        return claims?.contains { $0.claimant.state == .waiting } == true
                    } == .cancelled)
            }
            try document.open()
            #expect(document.contents?.text == "one")
            document.cancelOpening()
            #expect(document.state == [])
            try document.close()
        }
    }

    @Test(arguments: places)
    func `an opening that waits for another call of its document can be cancelled`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let path = "\(volume.directory)/note"
            let document = Document<Text>(path, quietTime: nil)
            try document.open(creating: Text("old"))
            try document.change { $0.text = "mine" }
            let hasSaved = Monitor(false)
            let outcome = Monitor<Result<Void, any Error>?>(nil)
            try FileCoordinator().coordinate([FileIntent(path, .write)]) { _ in
                Threads.start("saves") {
                    try? document.save()
                    hasSaved.signal { $0 = true }
                }
                // By then the save waits for the claim, and the opening for the save.
                usleep(300_000)
                Threads.start("opens") {
                    let result = Result { try document.open() }
                    outcome.signal { $0 = result }
                }
                // It may not have begun.
                expectSoon {
                    document.cancelOpening()
                    return outcome.withLock { $0 } != nil
                }
                #expect(throws: CoordinationError.cancelled) {
                    try outcome.withLock { $0 }?.get()
                }
                #expect(!hasSaved.withLock { $0 })
            }
            let _: Bool? = hasSaved.wait { $0 ? true : nil }
            #expect(document.state == [] && text(of: path) == "mine")
            try document.close()
        }
    }

    @Test func `an opening in a mount that is read only is cancelled when the content is there`()
        throws
    {
        try withVolume(.passthrough, store: "folder", options: ["store_timeout=300"]) { volume in
            let container = try #require(volume.container)
            let path = "\(volume.directory)/note"
            try promise("far away", at: path, in: volume)
            try container.unmount()
            try container.mount(options: ["store_timeout=300", "ro"])
            let away = container.storeFolder + ".away"
            #expect(rename(container.storeFolder, away) == 0)
            let document = Document<Text>(path)
            let outcome = Monitor<Result<Void, any Error>?>(nil)
            Threads.start("opens") {
                let result = Result { try document.open() }
                outcome.signal { $0 = result }
            }
            expectSoon {
                (try? PathAttributes.value("user.shapeedit.state", of: path))
                    == Array("downloading".utf8)
            }
            #expect(document.state.contains(.progressAvailable) && document.progress == 0)
            // It cannot be kept from coming, and nobody waits for that.
            document.cancelOpening()
            #expect(outcome.withLock { $0 == nil })
            #expect(rename(away, container.storeFolder) == 0)
            let result = outcome.wait(until: MonotonicClock.after(milliseconds: 60_000)) { $0 }
            #expect(throws: CoordinationError.cancelled) { try result?.get() }
            #expect(document.state == [.closed, .editingDisabled] && document.progress == nil)
            try document.open()
            #expect(document.contents?.text == "far away")
            try document.close()
        }
    }

    @Test func `an opening that has only begun, or is about to end, can be cancelled`() throws {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/note"
            let document = Document<HookedText>(path)
            HookedText.onSaving { document.cancelOpening() }
            #expect(throws: CoordinationError.cancelled) {
                try document.open(creating: HookedText("new"))
            }
            HookedText.onLoading { document.cancelOpening() }
            #expect(throws: CoordinationError.cancelled) { try document.open() }
            try document.open()
            try document.close()
        }
    }

    @Test func `an opening that waits for the content can be cancelled, and begun again`() throws {
        try withVolume(.passthrough, store: "folder", options: ["store_timeout=300"]) { volume in
            let container = try #require(volume.container)
            let path = "\(volume.directory)/note"
            try promise("far away", at: path, in: volume)
            // Without what the kernel still has of it.
            try volume.remount()
            let away = container.storeFolder + ".away"
            #expect(rename(container.storeFolder, away) == 0)
            let document = Document<Text>(path)
            let error = cancel(document) {
                (try? PathAttributes.value("user.shapeedit.state", of: path))
                    == Array("downloading".utf8)
            }
            #expect(error == .cancelled)
            #expect(rename(away, container.storeFolder) == 0)
            try document.open()
            #expect(document.contents?.text == "far away")
            try document.close()
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
            for content in ["far away", "bad"] {
                let path = "\(volume.directory)/\(content)"
                try promise(content, at: path, in: volume)
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
