internal import Glibc
internal import SystemCalls

/// One warm `shapeedit-thumbnailer` process, started when it is first needed and again after every
/// death. A document that hangs, crashes or floods it costs one failure.
///
/// May be used from any thread; one document is drawn at a time, others wait. Calls block. The process ends with
/// the thread that started it, as the kernel has it: a thread that ends stops it before.
public final class ThumbnailWorker: Sendable {
    /// What drawing may take, in milliseconds from the start of the drawing.
    public static let wallLimit: UInt64 = 15_000
    /// What starting and its first message may take, in milliseconds.
    private static let startLimit: UInt64 = 10_000

    private let program: String
    private let wallLimit: UInt64
    private let niceness: Int32
    private let state = Monitor(State())

    private struct State {
        var isBusy = false
        var running: WorkerProcess?
        var confinement: Confinement?
        var starts = 0
    }

    /// A worker that will run the program at a path, or of that name in PATH.
    ///
    /// - Parameter niceness: how much the process stands back for others, as nice(1) has it.
    public init(
        program: String = "shapeedit-thumbnailer", wallLimit: UInt64 = wallLimit,
        niceness: Int32 = 0
    ) {
        self.program = program
        self.wallLimit = wallLimit
        self.niceness = niceness
    }

    /// What confines the process; nil before the first start.
    public var confinement: Confinement? { state.withLock(\.confinement) }
    /// The running process; nil if none runs.
    public var processIdentifier: Int32? { state.withLock { $0.running?.process.identifier } }
    /// How often a process was started.
    public var starts: Int { state.withLock(\.starts) }

    /// Starts the process if none runs, so that the first picture need not wait for it.
    public func warmUp(cancellation: Cancellation? = nil) throws(ThumbnailFailure) {
        try alone { () throws(ThumbnailFailure) in _ = try started(cancellation) }
    }

    /// Ends the process once what it draws is done; the next request starts another.
    public func stop() {
        _ = try? alone { () throws(ThumbnailFailure) in end() }
    }

    /// The picture of a document as a PNG file.
    ///
    /// - Parameters:
    ///   - descriptor: the document, if the request has no bytes; it stays the caller's and is
    ///     read from its start whatever its position.
    ///   - cancellation: ends the drawing, or keeps it from beginning.
    public func picture(
        _ request: DrawingRequest, descriptor: Int32 = -1, cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> [UInt8] {
        try ask(request.message, descriptor, cancellation) { reply in
            if case .picture(let bytes) = reply { bytes } else { nil }
        }
    }

    /// The picture that another program drew as one that fits into a square and that the desktop's cache
    /// takes. Only programs that can be lost should look at it.
    ///
    /// - Parameters:
    ///   - picture: a PNG file of any size and kind.
    ///   - size: the side of the square in pixels.
    ///   - width: with `height` the proportions of what it shows, if dark bars beside that are to be left out.
    ///   - height: see `width`.
    ///   - cancellation: ends the work, or keeps it from beginning.
    public func fitted(
        _ picture: [UInt8], size: UInt16, width: Int = 0, height: Int = 0,
        cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> [UInt8] {
        let request = FittingRequest(size: size, picture: picture, width: width, height: height)
        return try ask(request.message, -1, cancellation) { reply in
            if case .picture(let bytes) = reply { bytes } else { nil }
        }
    }

    /// The preview that a photo has in it. Only programs that can be lost should look at
    /// it. No more of the photo is read than it takes to find out, and no more than
    /// ``PreviewRequest/mostBytes``.
    ///
    /// - Parameters:
    ///   - size: of the photo, in bytes.
    ///   - cancellation: ends the search, or keeps it from beginning.
    ///   - read: gives bytes of the photo; nil if they cannot be had now. Called without a lock.
    public func preview(
        inPhotoOf size: Int, cancellation: Cancellation? = nil, read: (Range<Int>) -> [UInt8]?
    ) throws(ThumbnailFailure) -> PhotoPreview {
        var request = PreviewRequest(size: size)
        while true {
            let answer: PreviewAnswer = try ask(request.message, -1, cancellation) { reply in
                if case .preview(let said) = reply { said } else { nil }
            }
            switch answer {
            case .found(let preview): return preview
            case .wanted(let range):
                guard request.admits(range) else {
                    throw .refused("its preview is not where it begins")
                }
                guard let bytes = read(range), bytes.count == range.count else {
                    throw .unavailable("the photo cannot be read now")
                }
                request.add(bytes, at: range.lowerBound)
            }
        }
    }

    /// The words of a document; parameters as of ``picture(_:descriptor:cancellation:)``.
    public func text(
        _ request: TextRequest, descriptor: Int32 = -1, cancellation: Cancellation? = nil
    ) throws(ThumbnailFailure) -> WorkerText {
        try ask(request.message, descriptor, cancellation) { reply in
            if case .text(let text) = reply, text.isBounded { text } else { nil }
        }
    }

    /// What the process says to a message.
    ///
    /// - Parameter answer: what a reply has, if it is an answer; nil for others.
    private func ask<Answer>(
        _ message: [UInt8], _ descriptor: Int32, _ cancellation: Cancellation?,
        answer: (WorkerReply) -> Answer?
    ) throws(ThumbnailFailure) -> Answer {
        try alone { () throws(ThumbnailFailure) -> Answer in
            if cancellation?.isCancelled == true { throw .cancelled }
            let running = try started(cancellation)
            let reply: WorkerReply
            do throws(WorkerChannel.Failure) {
                var patience = WorkerChannel.Patience()
                patience.deadline = MonotonicClock.after(milliseconds: wallLimit)
                patience.interruption = cancellation?.descriptor.number ?? -1
                try running.channel.send(message, descriptor: descriptor, patience)
                let received = try running.channel.receive(
                    limit: WorkerReply.messageBytes, patience)
                guard let read = WorkerReply(message: received.message) else { throw .malformed }
                reply = read
            } catch {
                // Whatever it was about to say belongs to no later question.
                throw failure(error)
            }
            if case .refusal(let reason) = reply { throw .refused(reason) }
            guard let found = answer(reply) else { throw failure(.malformed) }
            return found
        }
    }

    /// Ends the process after a failed exchange and tells what it was.
    private func failure(_ problem: WorkerChannel.Failure) -> ThumbnailFailure {
        switch problem {
        case .closed:
            let ending = end(waiting: true)
            // No limit of its own ends it by SIGKILL: somebody did, or the kernel for want of memory.
            if let ending, ending.wasWanted || ending == .signal(SIGKILL) {
                return .ended(ending.description)
            }
            return .died(Self.describe(ending))
        case .timedOut:
            end()
            return .timedOut(milliseconds: wallLimit)
        case .interrupted:
            end()
            return .cancelled
        case .malformed:
            end()
            return .died("an answer that is none")
        case .system(let errno):
            end()
            return .unavailable("the worker cannot be asked: \(errno)")
        }
    }

    private func started(_ cancellation: Cancellation?) throws(ThumbnailFailure) -> WorkerProcess {
        if let running = state.withLock(\.running) {
            if !running.process.hasEnded { return running }
            // Without having seen the document that it would get now.
            end(waiting: true)
        }
        do throws(Errno) {
            let running = try WorkerProcess([program, "--worker"])
            if niceness != 0 {
                _ = setpriority(
                    __priority_which_t(PRIO_PROCESS.rawValue), id_t(running.process.identifier),
                    niceness)
            }
            state.withLock { state in
                state.running = running
                state.starts += 1
            }
        } catch {
            throw .unavailable("\(program) cannot be started: \(error)")
        }
        guard let running = state.withLock(\.running) else {
            throw .unavailable("\(program) cannot be started")
        }
        do throws(WorkerChannel.Failure) {
            var patience = WorkerChannel.Patience()
            patience.deadline = MonotonicClock.after(milliseconds: Self.startLimit)
            patience.interruption = cancellation?.descriptor.number ?? -1
            let hello = try running.channel.receive(limit: 64, patience)
            guard case .hello(let confinement) = WorkerReply(message: hello.message) else {
                throw .malformed
            }
            state.withLock { $0.confinement = confinement }
        } catch {
            if error == .interrupted {
                end()
                throw .cancelled
            }
            throw .unavailable(
                "\(program) does not start: ended by "
                    + Self.describe(end(waiting: error == .closed)))
        }
        return running
    }

    private static func describe(_ ending: ChildProcess.End?) -> String {
        ending?.description ?? "being stopped"
    }

    /// Ends the process; `waiting`: it has closed its socket and is ending by itself. How it did, or nil
    /// if it had to be stopped.
    @discardableResult
    private func end(waiting: Bool = false) -> ChildProcess.End? {
        let running = state.withLock { state in
            defer { state.running = nil }
            return state.running
        }
        guard let running else { return nil }
        if waiting {
            var watched = [
                pollfd(fd: running.process.ending.number, events: Int16(POLLIN), revents: 0)
            ]
            let deadline = MonotonicClock.after(milliseconds: 1_000)
            if poll(&watched, until: deadline) > 0 { return running.process.end() }
        }
        running.process.kill()
        return nil
    }

    /// Runs `body` while no other thread talks to the process.
    private func alone<Result>(
        _ body: () throws(ThumbnailFailure) -> Result
    ) throws(ThumbnailFailure) -> Result {
        _ = state.wait { state -> Bool? in
            guard !state.isBusy else { return nil }
            state.isBusy = true
            return true
        }
        defer { state.signal { $0.isBusy = false } }
        return try body()
    }
}
