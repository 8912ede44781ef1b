import Content
import Coordination
import Model
import Testing

/// Who waits for the end of a write session, and how long.
struct SessionClosingTests {
    private static let patience = Closing.patience
    private static let item = ItemNumber(rawValue: 7)
    private static let nothing = ContentReference(
        node: NodeNumber(item, 1), place: .none, hash: nil, size: 0)

    /// A session that so many handles of one process write to.
    private func session(handles: Int) -> WriteSession {
        let session = WriteSession(node: NodeNumber(Self.item, 2), base: Self.nothing)
        for _ in 0..<handles { session.count(1, user: 0, thread: 1) }
        return session
    }

    private func flush(_ session: WriteSession, _ handle: UInt64, at now: UInt64) {
        session.closing.noteFlushed(handle, of: 1, byOpener: true, at: now)
        session.closing.noteKept(at: now)
    }

    @Test func `several handles that are closed at once are waited for until all are released`() {
        let session = session(handles: 3)
        for handle: UInt64 in 1...3 {
            #expect(!session.isClosing)
            flush(session, handle, at: 1)
        }
        for handle: UInt64 in [2, 1] {
            #expect(session.isClosing && session.isEnding)
            session.countOut(handle, 1)
        }
        #expect(session.keepsWaiting(isWriter: false))
        #expect(session.keepsWaiting(isWriter: true))
    }

    @Test func `one that is still open, or on the way, keeps nobody waiting`() {
        let session = session(handles: 2)
        flush(session, 1, at: 1)
        #expect(!session.isClosing)
        flush(session, 2, at: 1)
        session.expected[9] = WriteSession.Expectation(process: 9, until: .max)
        #expect(!session.isClosing)
        session.count(9, user: 0, thread: 9)
        #expect(!session.isClosing)
        flush(session, 3, at: 2)
        #expect(session.isClosing)
    }

    @Test func `what was renamed over another file is waited for, but not by its writer`() {
        let session = session(handles: 1)
        #expect(!session.keepsWaiting(isWriter: false))
        session.replaces = true
        #expect(session.keepsWaiting(isWriter: false))
        #expect(!session.keepsWaiting(isWriter: true))
        #expect(!session.isClosing)
    }

    @Test func `a handle that is written to after a flush is not closed`() {
        let session = session(handles: 1)
        flush(session, 1, at: 1)
        #expect(session.isClosing)
        session.closing.noteWritten(1)
        #expect(!session.isClosing)
    }

    @Test func `inherited descriptors say nothing before the opener has closed its own`() {
        let session = session(handles: 1)
        session.closing.noteFlushed(1, of: 1, byOpener: false, at: 1)
        session.closing.noteKept(at: 1)
        #expect(!session.isClosing)
        flush(session, 1, at: 2)
        #expect(session.isClosing)
        session.closing.noteWritten(1)
        #expect(!session.isClosing)
        session.closing.noteFlushed(1, of: 1, byOpener: false, at: 1)
        #expect(session.isClosing)
    }

    @Test func `what nobody wrote to is not waited for, whichever handle is closed first`() {
        let session = session(handles: 2)
        session.closing.noteFlushed(1, of: 1, byOpener: true, at: 1)
        session.closing.noteFlushed(2, of: 1, byOpener: true, at: 1)
        #expect(!session.isClosing)
        session.closing.noteWritten(2)
        flush(session, 2, at: 1)
        #expect(session.isClosing)
    }

    /// Two processes that wrote a document and read it in turn: some reads changed while they were made.
    @Test func `who has closed all it had does not see what others write`() {
        let session = session(handles: 2)
        session.count(9, user: 0, thread: 9)
        flush(session, 1, at: 1)
        #expect(session.concerns(1, now: 2), "it has another")
        flush(session, 2, at: 1)
        #expect(!session.concerns(1, now: 2))
        #expect(session.concerns(9, now: 2))
        session.closing.noteWritten(2)
        #expect(session.concerns(1, now: 2), "a duplicate lives on")
        flush(session, 2, at: 3)
        session.countOut(3, 9)
        #expect(session.concerns(1, now: 4), "it waits for what it wrote itself")
        session.expected[9] = WriteSession.Expectation(process: 9, until: .max)
        #expect(!session.concerns(1, now: 4))
        session.expected[1] = WriteSession.Expectation(process: 1, until: .max)
        #expect(session.concerns(1, now: 4))
    }

    /// The kernel's passthrough does not tell of the writes of a duplicate.
    @Test func `who keeps a duplicate sees what others write, a second after the flush`() {
        let session = session(handles: 1)
        session.count(9, user: 0, thread: 9)
        flush(session, 1, at: 1)
        #expect(!session.concerns(1, now: Closing.certainty))
        #expect(session.concerns(1, now: 1 + Closing.certainty))
        flush(session, 1, at: 2 * Closing.certainty)
        #expect(!session.concerns(1, now: 2 * Closing.certainty + 1))
    }

    @Test func `everybody has the whole time from when they ask`() {
        let session = session(handles: 1)
        flush(session, 1, at: 1)
        let late = 10 * Self.patience
        #expect(session.isClosing)
        #expect(session.closing.park({}, at: late) == late + Self.patience)
        #expect(session.closing.park({}, at: late + 5) == late + 5 + Self.patience)
        #expect(session.closing.takeImpatient(late + Self.patience - 1).isEmpty)
        #expect(session.closing.takeImpatient(late + Self.patience).count == 1)
        #expect(session.closing.takeParked().count == 1)
    }

    @Test func `one wait in vain tells that a dup lives on, until the next flush`() {
        let session = session(handles: 1)
        flush(session, 1, at: 1)
        // As soon after the flush as it may take anyway: nothing is known yet.
        let soon = session.closing.park({}, at: 2)
        #expect(session.closing.takeImpatient(soon).count == 1)
        #expect(session.isClosing)
        let end = session.closing.park({}, at: 1 + Closing.certainty)
        #expect(session.closing.takeImpatient(end).count == 1)
        #expect(!session.isClosing)
        flush(session, 1, at: end + 1)
        #expect(session.isClosing)
    }

    @Test func `a picture that is drawn first is waited for as well`() {
        let session = session(handles: 1)
        flush(session, 1, at: 1)
        session.closing.noteDrawing(until: 5000)
        #expect(session.closing.park({}, at: 10) == 5000 + Self.patience)
        session.closing.noteDrawing(until: 0)
        #expect(session.closing.park({}, at: 20) == 20 + Self.patience)
    }
}
