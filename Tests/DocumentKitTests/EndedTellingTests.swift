import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// What is left of presentations and queries that have ended, in the moment in which they do.
@Suite(.oneAtATime) struct EndedTellingTests {
    /// The kernel gives a user 128 queues of inotify(7): who opens and closes one document after the other
    /// had none any more, and no other program of the user either.
    @Test func `who closes documents and stops queries outside of containers keeps no queue`()
        throws
    {
        try withVolume(.plain) { volume in
            let path = "\(volume.directory)/document"
            try store(path, "text")
            let before = Self.queues()
            for round in 1...50 {
                let document = Document<Text>(path)
                try document.open()
                try document.change { $0.text = "round \(round)" }
                try document.close()
                #expect(Self.queues() == before, "document, \(round)")
                let presentation = try FilePresentation(of: path, Shows())
                presentation.end()
                #expect(Self.queues() == before, "presentation, \(round)")
                withExtendedLifetime(presentation) {}
                let query = try MetadataQuery(Query(), below: volume.directory)
                try query.start()
                query.stop()
                #expect(Self.queues() == before, "query, \(round)")
            }
        }
    }

    /// Queues of inotify(7) that this process has.
    private static func queues() -> Int {
        let folder = "/proc/self/fd"
        return ((try? Directories.names(in: folder)) ?? []).count { name in
            let target = (try? SymbolicLink.target(of: "\(folder)/\(name)")) ?? []
            return String(decoding: target, as: UTF8.self).hasSuffix("inotify")
        }
    }

    /// It was told all that had come by then.
    @Test(arguments: places)
    func `a presenter is told nothing after the call that is under way at the end`(
        _ place: DataPath
    ) throws {
        try withVolume(place) { volume in
            let held = Held()
            let presentation = try FilePresentation(of: volume.directory, held)
            let made = try volume.run("sh", "-c", "for n in $(seq 30); do : > f$n; done")
            #expect(made.status == 0)
            held.waitForCall()
            // What happened is on its way to it.
            usleep(300_000)
            presentation.end()
            held.letGo()
            expectSoon { held.calls.last == "ended" }
            #expect(held.calls.count == 2, "\(held.calls)")
        }
    }

    /// The daemon was told of a presenter that it did not know any more.
    @Test func `who claims on behalf of a presentation that has ended gets the claim`() throws {
        try withVolume(.passthrough) { volume in
            let held = Held()
            let presentation = try FilePresentation(of: volume.directory, held)
            let made = try volume.run("sh", "-c", ": > document")
            #expect(made.status == 0)
            held.waitForCall()
            presentation.end()
            defer { held.letGo() }
            let coordinator = FileCoordinator(for: presentation)
            for access in [FileAccess.read, .write] {
                try coordinator.coordinate([FileIntent("\(volume.directory)/document", access)]) {
                    _ in
                }
            }
        }
    }
}

/// A presenter whose first call returns when it is let go.
private final class Held: FilePresenter {
    private struct State {
        var calls: [String] = []
        var isFree = false
    }
    private let state = Monitor(State())

    var calls: [String] { state.withLock { $0.calls } }
    func waitForCall() { _ = state.wait { $0.calls.isEmpty ? nil : true } }
    func letGo() { state.signal { $0.isFree = true } }

    private func note(_ word: String) {
        state.signal { $0.calls.append(word) }
        _ = state.wait { $0.isFree ? true : nil }
    }
    func itemChanged() { note("changed") }
    func subitemChanged(_ change: SubitemChange) { note("\(change)") }
    func presentationEnded() { note("ended") }
}
