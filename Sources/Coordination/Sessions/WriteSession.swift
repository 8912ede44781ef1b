package import Content
package import Model
package import SystemCalls

/// The time from the first writing open of a document to the publish of what was written.
///
/// All writers of the document share it and its staging file. Guarded by the volume's lock, but for
/// ``staging``, which has its own (it is held while a content is copied).
///
/// Life: *expected* (somebody was redirected here) -> *open* (writing handles) -> *closing* (all of
/// them were flushed, their RELEASEs are on the way) -> published or discarded.
package final class WriteSession: @unchecked Sendable {
    // Unchecked because the volume's lock guards the fields.

    /// The session's own node; its version has the same one after the publish.
    package let node: NodeNumber
    /// What the document was when the session began, or when it last published.
    package var base: ContentReference
    /// Where the staging file comes into being; held during the copy, so never take the volume's
    /// lock and wait for this one.
    package let staging: Lock<StagingState>
    package var isStaged = false
    /// What is staged is likely to stay small: it begins without a file.
    package var isLikelySmall = false
    /// The process that made the file with this session, else 0.
    package var maker: Int32 = 0
    /// Its file, of which there is no version yet, was renamed over another one a moment ago: programs
    /// that close what they have saved only then (GLib's do) are about to.
    package var replaces = false
    /// What was staged of it by then.
    package var placed: StagedMoment?
    /// A copy of that is being published, because somebody looks and the close has not come.
    package var isShowing = false
    /// The staging file as it was when it was made: whoever writes through the kernel's passthrough
    /// is only noticed by a difference to this.
    package var baseline: FileStatus?
    /// Something was written, or the size set, through the daemon.
    package var touched = false
    /// How often that was.
    package var writes: UInt64 = 0
    /// Open file descriptions that may write.
    package var handles = 0
    /// Those handles by process.
    package var writers: [Int32: Int] = [:]
    /// A writing handle was passed through that could be mapped: the mapping may outlive it.
    package var mayBeMapped = false
    /// A writing handle was passed through: what it wrote is not seen.
    package var isWrittenUnseen = false
    /// A writing handle is, or was, a version's: the kernel does not know how long the file is.
    package var isWrittenDirectly = false
    /// The staging file when the mode was last set: what was written until then takes no set-user-id
    /// away.
    package var modeSet: FileStatus?
    /// How often the end was put off because somebody still could write.
    package var delays = 0
    /// A look whether the end can come now is planned.
    package var isLookPlanned = false
    /// Threads that were redirected and have not opened yet.
    package var expected: [Int32: Expectation] = [:]
    /// The FLUSHes, the RELEASEs that should follow them, and who waits for these.
    package var closing = Closing()
    /// A write failed, or the disk is full: what is staged is not whole. It is not published unless
    /// a later fsync, truncation or close with room succeeds.
    package var failure: Errno?
    /// ``writes`` when that happened: whoever went on writing took notice.
    package var writesAtFailure: UInt64 = 0
    /// The disk was full at the last close: what the kernel wrote by itself may not be whole.
    package var isSuspect = false
    /// The staging file at that close.
    package var suspectStatus: FileStatus?
    /// Its only writer wants nothing of what is staged published before it says so.
    package var isDraft = false
    /// What recovery knows of the session.
    package var recorded: SessionRow?
    /// What was staged when it was last made durable by an fsync.
    package var synced: StagedMoment?
    /// The staging file before it got the time ``unwritten``.
    package var hidden: FileStatus?
    /// The file that was made of what had been staged without one, and what that was.
    package var spilled: (file: FileStatus, before: FileStatus)?
    /// The last fsync that has not been followed by a publish (monotonic nanoseconds), else 0.
    package var syncedAt: UInt64 = 0
    /// A look whether the session has become quiet is planned.
    package var isQuietPlanned = false
    /// The user id of the last writer that opened it.
    package var author: UInt32 = 0
    /// The process that closed the document last.
    package var lastWriter: Int32 = 0
    /// Processes that closed it before that one.
    package var coauthors: Set<Int32> = []
    /// The process that emptied the document to write it anew, else 0.
    package var rewriter: Int32 = 0
    /// It began with a LOOKUP, which cannot wait until the kernel has forgotten what other names led to: by
    /// them others may miss it, and what it publishes. The next writing open waits for that.
    package var mayBeMissed = false
    /// The session as claims of the processes that write, while anybody claims by name.
    package var claims: [Int32: ClaimID] = [:]
    /// How often the kernel has looked the session's node up.
    package var lookups: UInt32 = 0

    /// A thread that was redirected.
    package struct Expectation: Sendable {
        package var process: Int32
        /// The end of its time (monotonic nanoseconds).
        package var until: UInt64

        package init(process: Int32, until: UInt64) {
            self.process = process
            self.until = until
        }
    }

    package struct StagingState: Sendable {
        package var made = false
    }

    /// When a staging file was written last that was not since it was made, or since ``hidden`` was taken; in
    /// 1906.
    package static let unwritten = Timestamp(seconds: -2_000_000_000, nanoseconds: 0)

    package init(node: NodeNumber, base: ContentReference) {
        self.node = node
        self.base = base
        staging = Lock(StagingState())
    }

    /// Counts a writing handle of the process, which the thread opened.
    package func count(_ process: Int32, user: UInt32, thread: Int32) {
        // What others write is not to be lost with a draft.
        if writers[process] == nil { isDraft = false }
        handles += 1
        writers[process, default: 0] += 1
        expected[thread] = nil
        // An ordinary writer among others is enough to take set-user-id away.
        if user != 0 { author = user }
    }

    /// Counts one of the process's handles out.
    ///
    /// - Parameter handle: `nil` if the kernel never had it.
    package func countOut(_ handle: UInt64?, _ process: Int32) {
        handles -= 1
        if let handle { closing.noteReleased(handle) }
        let left = (writers[process] ?? 1) - 1
        writers[process] = left > 0 ? left : nil
    }

    /// Those that write, or are about to.
    package var processes: Set<Int32> {
        Set(writers.keys).union(expected.values.lazy.map(\.process))
    }

    /// Whether the process sees the staged bytes: it writes, or is about to.
    ///
    /// One that has closed all that it had does not any more while others write or are about to, before the
    /// kernel has told of its last close too: it would read what they have half written. If the kernel does
    /// not tell of it within a second the process has a duplicate, and goes on.
    package func concerns(_ process: Int32, now: UInt64) -> Bool {
        if process == 0 { return false }
        if let count = writers[process],
            !closing.areFlushed(count, of: process, now: now) || isLeft
        {
            return true
        }
        return expected.values.contains { $0.process == process && $0.until > now }
    }

    /// Whether the process has closed the document and may have it mapped: with passthrough the kernel lets go
    /// of a handle at its last close, and a mapping that lives on holds the staging file. Not while others write
    /// or are about to.
    package func isMapped(by process: Int32) -> Bool {
        guard process != 0, handles == 0, expected.isEmpty else { return false }
        return process == lastWriter || coauthors.contains(process)
    }

    /// Whether all that had it open are known to have closed it, and nobody else is on the way.
    package var isLeft: Bool { closing.areFlushed(handles) && expected.isEmpty }

    /// Whether others should wait: all that had it open are known to have closed it, and nobody else
    /// is on the way.
    package var isClosing: Bool { closing.isAwaited(of: handles) && expected.isEmpty }

    /// Whether writers should wait as well, those that closed it too. What is opened now begins another
    /// version.
    package var isEnding: Bool { isClosing && !isPutOff }

    /// All handles are gone, and the end was put off because somebody still could write.
    package var isPutOff: Bool { delays > 0 && handles == 0 }

    /// Whether who looks for the current version waits: a close is under way that publishes the next one, or
    /// to be expected, because what there was under the name is gone and nothing else is there yet.
    ///
    /// - Parameter isWriter: they are one of those whom the session ``concerns(_:now:)``.
    package func keepsWaiting(isWriter: Bool) -> Bool {
        isWriter ? isEnding : isClosing || isPutOff || replaces
    }

    /// Whether a publish leaves set-user-id and set-group-id as they are: writes that the daemon saw
    /// have taken them away already, and others count only if they came after the mode was set.
    ///
    /// - Parameter status: the staging file's now.
    package func keepsPrivileges(_ status: FileStatus) -> Bool {
        guard author != 0, isWrittenUnseen else { return true }
        guard let modeSet else { return false }
        return modeSet.size == status.size && modeSet.modified == status.modified
            && modeSet.changed == status.changed
    }

    /// Whether all that is staged, by its file's status, was there at an fsync.
    package func isSynchronized(_ status: FileStatus) -> Bool { synced == moment(status) }

    /// What is staged now, by its file's status.
    package func moment(_ status: FileStatus) -> StagedMoment {
        StagedMoment(status: status, writes: writes)
    }

    /// The staging file's status as it is told: with the times of the last write.
    package func shown(_ status: FileStatus) -> FileStatus {
        var former: FileStatus?
        if status.modified == Self.unwritten {
            former = hidden
        } else if let spilled, spilled.file == status {
            former = spilled.before
        }
        guard let former else { return status }
        var shown = status
        (shown.modified, shown.changed) = (former.modified, former.changed)
        return shown
    }

    /// The staging file, which was `before`, has got the time ``unwritten`` and is `after`. Its bytes are the
    /// same.
    package func noteHidden(_ before: FileStatus, as after: FileStatus) {
        if modeSet == before { modeSet = after }
        if suspectStatus == before { suspectStatus = after }
    }

    /// Whether `status`, the staging file's now, says that something was written.
    package func isChanged(_ status: FileStatus) -> Bool {
        guard isStaged else { return false }
        if touched { return true }
        guard let baseline else { return true }
        // Nothing and nothing are the same, whatever was done to the file that holds it.
        if status.size == 0, baseline.size == 0 { return false }
        return status.size != baseline.size || status.modified != baseline.modified
            || status.changed != baseline.changed
    }
}

/// What a session has staged at one moment. Two are equal if nothing was written in between.
package struct StagedMoment: Equatable, Sendable {
    /// The staging file's. The times alone do not tell: the next write can come at the same moment.
    package var status: FileStatus
    /// How often something was written through the daemon. What the kernel writes by itself is told by the
    /// status, if that had the time ``WriteSession/unwritten``.
    package var writes: UInt64

    package init(status: FileStatus, writes: UInt64) {
        self.status = status
        self.writes = writes
    }
}
