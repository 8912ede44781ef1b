import Browser
import Editor
import Glibc
import Model
import SystemCalls
import Terminal

/// Runs the browser: brings events of terminal, folder and time to the state, and does what it wants.
struct BrowserRun: ScreenRun, ~Copyable {
    let device: TerminalDevice
    private let tree: BrowsedTree
    private var state: BrowserState
    private var display: BrowserDisplay
    var listener: TerminalListener
    private let inbox: EventInbox<BrowserEvent>
    private let hand: BrowserHand
    private let pictures: BrowserPictures
    private let titles: BrowserTitles
    private var lastLook = 0
    private var lastInspection = 0
    private(set) var ending: Int32?
    private var isOver = false
    private var hasNews = false

    /// How often the folder is looked at without being told of changes, and at most when told, in
    /// milliseconds.
    private static let (longLookTime, lookTime) = (5_000, 200)
    /// How often the mount is asked about the documents on the screen, in milliseconds.
    private static let inspectionTime = 1_000

    init(
        _ device: TerminalDevice, _ tree: BrowsedTree, _ wanted: GraphicsProtocol?,
        _ inbox: EventInbox<BrowserEvent>
    ) {
        self.device = device
        self.tree = tree
        self.inbox = inbox
        display = BrowserDisplay(device)
        listener = TerminalListener(device, wanted)
        hand = BrowserHand(tree, inbox)
        pictures = BrowserPictures(tree, inbox)
        titles = BrowserTitles(tree, inbox)
        state = BrowserState(name: tree.name, shape: listener.shape)
    }

    /// Until the user leaves or a signal ends it; then the terminal is given back. Does not return
    /// after a signal.
    mutating func loop() throws(Failure) {
        listener.ask()
        look()
        while !isOver {
            let isAsking = listener.isAsking
            if !isAsking { draw() }
            wait(isAsking: isAsking)
        }
        let finish = finish { hand.finish(within: $0) }
        let last = inbox.takeAll()
        device.close()
        // What nobody can see on the screen any more.
        for case .done(let problem, isBad: true, select: _) in last { Console.complain(problem) }
        try leave(
            finish,
            complaint: "what was done last may not have been made: the folder did not answer")
    }

    private mutating func draw() {
        display.show(state)
        pictures.want(state.wantedPictures)
        if device.isGone {
            // It may be gone for us because one of these asked us to end.
            takeSignals()
            end(by: SIGHUP)
        }
    }

    private mutating func wait(isAsking: Bool) {
        let now = TerminalListener.now()
        var next = min(
            lastLook + (hasNews ? Self.lookTime : Self.longLookTime),
            lastInspection + Self.inspectionTime)
        next = listener.deadline(before: next, isAsking: isAsking)
        var waits = [
            device.isGone ? -1 : device.input, device.signalDescriptor, inbox.descriptor,
            // While a look is due anyway there is nothing to learn.
            hasNews ? -1 : tree.descriptor,
        ].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = poll(&waits, nfds_t(waits.count), Int32(min(max(next - now, 0), 60_000)))
        if count > 0 {
            if waits[1].revents != 0 { takeSignals() }
            if waits[0].revents != 0 { takeInput() }
            if waits[2].revents != 0 { for event in inbox.takeAll() { take(event) } }
            if waits[3].revents != 0 { hasNews = true }
        }
        passTime()
    }

    private mutating func passTime() {
        takeRipeInput()
        let now = TerminalListener.now()
        if now - lastLook >= (hasNews ? Self.lookTime : Self.longLookTime) { look() }
        if now - lastInspection >= Self.inspectionTime {
            lastInspection = now
            hand.inspect(state.inSight)
            state.retryPictures()
        }
    }

    private mutating func look() {
        lastLook = TerminalListener.now()
        hasNews = false
        tree.drain()
        hand.look(state.filter)
    }

    mutating func end(by signal: Int32) {
        if ending == nil { ending = signal }
        isOver = true
    }

    mutating func suspend() {
        device.suspend()
        display.forget()
        take(listener.shape)
    }

    var name: String { tree.name }
    var laidOutFor: TerminalShape { state.shape }
    mutating func take(_ input: InputEvent) { take(.input(input)) }
    mutating func take(_ shape: TerminalShape) { take(.resized(shape)) }
    mutating func forgetScreen() { display.forget() }

    private mutating func take(_ event: BrowserEvent) {
        if case .listed(let entries, _, let problem) = event {
            lastInspection = 0
            if problem == nil { titles.follow(entries) }
        }
        for effect in state.update(event) {
            switch effect {
            case .quit: isOver = true
            case .suspend: suspend()
            case .redraw: display.forget()
            case .look: look()
            case .open(let path): edit(path)
            case .create, .rename, .delete, .evict, .materialize, .pin: hand.perform(effect)
            }
        }
    }

    /// Lends the terminal to the editor until that ends.
    private mutating func edit(_ path: String) {
        let (file, device) = (tree.file(path), self.device)
        var end = EditorProcess.End(status: -1)
        device.lend {
            do throws(Errno) {
                let editor = try EditorProcess(file)
                end = editor.wait(device)
            } catch { return }
        }
        display.forget()
        take(listener.shape)
        if let signal = end.signal {
            self.end(by: signal)
        } else if end.status != 0 {
            take(.done("the editor could not show \(path)", isBad: true, select: nil))
        }
        look()
    }
}
