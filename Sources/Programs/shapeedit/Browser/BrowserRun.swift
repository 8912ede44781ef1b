import Browser
import Editor
import Glibc
import SystemCalls
import Terminal

/// Runs the browser: brings events of terminal, folder and time to the state, and does what it wants.
struct BrowserRun: ~Copyable {
    private let device: TerminalDevice
    private let tree: BrowsedTree
    private var state: BrowserState
    private var display: BrowserDisplay
    private var query: GraphicsQuery
    private var parser = InputParser()
    private let inbox: EventInbox<BrowserEvent>
    private let hand: BrowserHand
    private let pictures: BrowserPictures
    private let started = BrowserRun.now()
    private var lastInput = 0
    private var lastLook = 0
    private var lastInspection = 0
    private var ending: Int32?
    private var isOver = false
    private var hasNews = false

    /// How long Escape may be the beginning of a longer sequence, in milliseconds.
    private static let escapeTime = 60
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
        query = GraphicsQuery(wanted: wanted, environment: TerminalOutput.environment)
        hand = BrowserHand(tree, inbox)
        pictures = BrowserPictures(tree, inbox)
        state = BrowserState(name: tree.name, shape: TerminalShape(of: device, query))
    }

    /// Milliseconds that only go forward.
    private static func now() -> Int { Int(MonotonicClock.now / 1_000_000) }

    /// Until the user leaves or a signal ends it; then the terminal is given back. Does not return
    /// after a signal.
    mutating func loop() {
        device.write(query.question)
        look()
        while !isOver {
            // Without pictures first and then with them would flicker.
            let isAsking = !query.isAnswered && Self.now() - started < GraphicsQuery.timeLimit
            if !isAsking { draw() }
            wait(isAsking: isAsking)
        }
        device.close()
        if let ending { device.die(of: ending) }
    }

    private mutating func draw() {
        display.show(state)
        pictures.want(state.wantedPictures)
        if device.isGone { end(by: SIGHUP) }
    }

    private mutating func wait(isAsking: Bool) {
        let now = Self.now()
        var next = min(
            lastLook + (hasNews ? Self.lookTime : Self.longLookTime),
            lastInspection + Self.inspectionTime)
        if parser.isWaiting { next = min(next, lastInput + Self.escapeTime) }
        if isAsking { next = min(next, started + GraphicsQuery.timeLimit) }
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
        let now = Self.now()
        if parser.isWaiting, now - lastInput >= Self.escapeTime {
            for input in parser.flush() { take(.input(input)) }
        }
        if now - lastLook >= (hasNews ? Self.lookTime : Self.longLookTime) { look() }
        if now - lastInspection >= Self.inspectionTime {
            lastInspection = now
            hand.inspect(state.inSight)
            state.retryPictures()
        }
    }

    private mutating func look() {
        lastLook = Self.now()
        hasNews = false
        tree.drain()
        hand.look()
    }

    private mutating func takeInput() {
        lastInput = Self.now()
        let bytes = device.read()
        if device.isGone { end(by: SIGHUP) }
        for input in parser.feed(bytes) {
            guard case .reply(let reply) = input else {
                take(.input(input))
                continue
            }
            query.take(reply)
            let shape = TerminalShape(of: device, query)
            if shape != state.shape { take(.resized(shape)) }
        }
    }

    private mutating func takeSignals() {
        for signal in device.signals() {
            switch signal {
            case .end(let number): end(by: number)
            case .stop: suspend()
            case .resumed:
                device.resume()
                display.forget()
            case .resized: take(.resized(TerminalShape(of: device, query)))
            }
        }
    }

    private mutating func end(by signal: Int32) {
        if ending == nil { ending = signal }
        isOver = true
    }

    private mutating func suspend() {
        device.suspend()
        display.forget()
        take(.resized(TerminalShape(of: device, query)))
    }

    private mutating func take(_ event: BrowserEvent) {
        if case .listed = event { lastInspection = 0 }
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
        var status: Int32 = 0
        let file = tree.file(path)
        device.lend {
            let program = "/proc/self/exe"
            let words: [String] = ["shapeedit", "edit", "--", file]
            let copies: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
            defer { for copy in copies { free(copy) } }
            var process: pid_t = 0
            let failure = posix_spawn(&process, program, nil, nil, copies, environ)
            guard failure == 0 else {
                status = -1
                return
            }
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        display.forget()
        take(.resized(TerminalShape(of: device, query)))
        if status != 0 {
            take(.done("the editor could not show \(path)", isBad: true, select: nil))
        }
        look()
    }
}
