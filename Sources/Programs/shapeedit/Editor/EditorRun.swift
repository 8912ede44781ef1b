import DocumentFiles
import DocumentKit
import Editing
import Editor
import Glibc
import Model
import PathText
import SystemCalls
import Terminal

/// Runs the editor: brings events of terminal, file and time to the state, and does what it wants.
struct EditorRun: ScreenRun, ~Copyable {
    let device: TerminalDevice
    private var state: EditorState
    private var display: EditorDisplay
    var listener: TerminalListener
    private let inbox: EventInbox<EditorEvent>
    private let file: FileWorker
    private let pictures: PictureWorker
    private var watch: FileWatch
    private var lastLook = 0
    private(set) var ending: Int32?
    /// When it was asked for by a signal.
    private var endingSince = 0
    /// Where the document was found last.
    private var path: String
    private var isOver = false

    /// How often the file is looked at without being told of changes, in milliseconds.
    private static let lookTime = 1_000

    init(
        _ device: TerminalDevice, _ document: DocumentFile, _ loaded: DocumentFile.Loaded,
        _ wanted: GraphicsProtocol?, _ inbox: EventInbox<EditorEvent>
    ) {
        self.device = device
        display = EditorDisplay(device)
        listener = TerminalListener(device, wanted)
        self.inbox = inbox
        file = FileWorker(document, loaded, inbox)
        pictures = PictureWorker(inbox)
        path = document.path
        watch = FileWatch(document.path)
        let name = String(document.path.lastName)
        state = EditorState(
            name: name.repairedPath, document: loaded.document, notes: loaded.notes,
            shape: listener.shape)
    }

    /// Until the user leaves or a signal ends it; then the terminal is given back. Does not return
    /// after a signal.
    mutating func loop() throws(Failure) {
        listener.ask()
        while !isOver {
            let isAsking = listener.isAsking
            // A terminal that does not read must not keep us from what is to be done before the end.
            if !isAsking, ending == nil { draw() }
            wait(isAsking: isAsking)
        }
        let finish = finish { file.finish(within: $0) }
        let last = inbox.takeAll()
        device.close()
        report(last)
        if finish != .done || isUnsaved(after: last) {
            // What is shown has become the others' by the time a copy is to be kept.
            let unkept = file.unkept
            for document in unkept { keepAside(document) }
            if ending != nil, unkept.isEmpty { keepAside(state.document) }
        }
        try leave(
            finish,
            complaint: "what was done last may not be in it: the file or its mount did not answer")
    }

    /// Whether something is not in the file though all that was under way when a signal's time was over has come
    /// to an end, so.
    private func isUnsaved(after last: [EditorEvent]) -> Bool {
        guard ending != nil, state.isUnsaved else { return false }
        let isSaved = last.contains { if case .saved = $0 { true } else { false } }
        return !isSaved || !state.pending.isEmpty
    }

    /// Keeps a document where no mount that does not answer is in the way.
    private func keepAside(_ document: EditableDocument) {
        do throws(Failure) {
            let name = try ConflictCopy.keep(of: path, isMounted: false) {
                (path, mode) throws(Failure) in
                try DocumentFile.create(path, document, mode: mode)
            }
            report([.keptCopy(name)])
        } catch { report([.copyFailed(error.message)]) }
    }

    private mutating func draw() {
        if let wanted = state.wantedRendering, wanted != display.requested {
            display.requested = wanted
            pictures.draw(wanted)
        }
        display.show(state)
        if device.isGone {
            // It may be gone for us because one of these asked us to end.
            takeSignals()
            end(by: SIGHUP)
        }
    }

    private mutating func wait(isAsking: Bool) {
        let now = TerminalListener.now()
        var next = lastLook + EditorRun.lookTime
        if let deadline = state.deadline { next = min(next, deadline) }
        if ending != nil { next = min(next, endingSince + Finish.patience) }
        next = listener.deadline(before: next, isAsking: isAsking)
        var waits = [
            device.isGone ? -1 : device.input, device.signalDescriptor, inbox.descriptor,
            watch.descriptor,
        ].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = poll(&waits, nfds_t(waits.count), Int32(min(max(next - now, 0), 60_000)))
        if count > 0 {
            // What was typed before somebody asked us to end is done.
            if waits[0].revents != 0 { takeInput() }
            if waits[1].revents != 0 { takeSignals() }
            if waits[2].revents != 0 { takeFromThreads() }
            if waits[3].revents != 0 {
                watch.drain()
                file.look()
            }
        }
        takeRipeInput()
        let later = TerminalListener.now()
        if ending != nil, later - endingSince >= Finish.patience { isOver = true }
        if later - lastLook >= EditorRun.lookTime {
            lastLook = later
            file.look()
        }
        take(.tick)
    }

    private mutating func takeFromThreads() {
        for event in inbox.takeAll() {
            if case .moved(let path) = event {
                self.path = path
                watch = FileWatch(path)
            }
            take(event)
        }
    }

    mutating func end(by signal: Int32) {
        guard ending == nil else { return }
        ending = signal
        endingSince = TerminalListener.now()
        take(.end)
    }

    mutating func suspend() {
        // Who stopped with the document locked would keep others from it.
        _ = file.finish(within: Finish.shortPatience)
        device.suspend()
        display.forget()
        take(listener.shape)
    }

    var name: String { state.name }
    var laidOutFor: TerminalShape { state.shape }
    mutating func take(_ input: InputEvent) { take(.input(input)) }
    mutating func take(_ shape: TerminalShape) { take(.resized(shape)) }
    mutating func forgetScreen() { display.forget() }

    private mutating func take(_ event: EditorEvent) {
        for effect in state.update(event, now: TerminalListener.now()) {
            switch effect {
            case .save, .create, .load, .undo, .redo, .keepCopy: file.perform(effect)
            case .suspend: suspend()
            case .redraw: display.forget()
            case .quit: isOver = true
            }
        }
    }

    /// What nobody can see on the screen any more.
    private func report(_ events: [EditorEvent]) {
        if state.tone == .bad, !state.message.isEmpty {
            Console.complain("\(state.name): \(state.message)")
        }
        for event in events {
            switch event {
            case .keptCopy(let name): Console.complain("your text is in \"\(name)\"")
            case .copyFailed(let reason): Console.complain(reason)
            default: break
            }
        }
    }
}
