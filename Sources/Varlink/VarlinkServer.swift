internal import Documents
internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// What a server does with calls. All of it is called on the server's thread and must not wait.
package protocol VarlinkService: AnyObject, Sendable {
    /// The interface's description in Varlink's language, by its name.
    var interfaces: [String: String] { get }
    /// What it says of itself.
    var product: (vendor: String, name: String, version: String, url: String) { get }
    /// What a client is told whose connection is closed because there are so many already.
    func refusal(_ limit: Int) -> VarlinkReply
    /// Answers a call, now or later: exactly one reply that does not continue ends it.
    func handle(_ call: VarlinkCall, _ reply: VarlinkReplier)
    /// The client is gone; what it held is to be let go.
    func ended(_ client: VarlinkClientID)
}

/// Names a connection as long as the server lives.
package struct VarlinkClientID: Hashable, Sendable { package let serial: UInt64 }

/// Who is at the other end.
package struct VarlinkPeer: Hashable, Sendable {
    package let process: Int32
    package let user: UInt32
}

/// Takes the replies to one call. Any thread; never waits.
package struct VarlinkReplier: Sendable {
    package let client: VarlinkClientID
    package let peer: VarlinkPeer
    let outbox: VarlinkOutbox
    let isOneWay: Bool

    /// Sends a reply; after one that does not continue the call is over.
    package func send(_ reply: VarlinkReply) {
        outbox.put(isOneWay ? [] : reply.bytes, to: client, isLast: !reply.continues)
    }

    /// Answers with what a stream has, as long as it has something.
    package func send(_ stream: any VarlinkStream) { outbox.put(stream, to: client) }

    /// The stream may have something.
    package func wake() { outbox.wake(client) }
}

/// Serves Varlink on a Unix socket: one thread for all clients, which never waits for one.
///
/// Calls of a connection are answered in their order; the next is looked at when the one before is
/// over. Only the user who runs this, and root, are served.
package final class VarlinkServer: @unchecked Sendable {
    // Unchecked because all but `outbox` belongs to the server's thread once it runs.

    /// What one client, and all of them, may take.
    package struct Limits: Sendable {
        /// Bytes of a message.
        package var message = 1 << 20
        package var clients = Descriptors.clients
        /// Bytes of replies that a client has not read, unless it is one reply.
        package var unread = 4 << 20
        /// How long a client may read nothing while there is something, in milliseconds.
        package var patience: UInt64 = 30_000
        package init() {}
    }

    /// Connections that are taken at once, at most.
    private static let intake = 64
    /// The socket's name is looked for this often, in milliseconds.
    private static let pace: UInt64 = 2_000

    private let path: String
    private let limits: Limits
    private unowned let service: any VarlinkService
    private var listener: OwnedDescriptor
    /// When the socket's name was looked for last.
    private var looked = MonotonicClock.now
    private let outbox: VarlinkOutbox
    private var connections: [VarlinkClientID: VarlinkConnection] = [:]
    private var serial: UInt64 = 0
    /// Connections whose call is over, and that may have sent the next.
    private var ready: Set<VarlinkClientID> = []
    /// There was no descriptor for a connection: those that wait are left for a moment.
    private var isShort = false
    private let done = Monitor(false)

    /// Listens at `path`, in a folder that is made, 0700, if it is not there.
    package init(at path: String, _ service: any VarlinkService, _ limits: Limits = Limits())
        throws(Failure)
    {
        self.path = path
        self.limits = limits
        self.service = service
        listener = try UnixSocket.listen(at: path)
        do throws(Errno) { outbox = try VarlinkOutbox() } catch {
            throw Failure(.system, "eventfd: \(error)")
        }
    }

    package func start() {
        // It has the service as long as it runs, also where it was waited for in vain (``stop()``).
        Threads.start("control") { [self, service] in withExtendedLifetime(service) { run() } }
    }

    /// Closes all connections and removes the socket. Returns when the thread has ended.
    package func stop() {
        outbox.end()
        let _: Bool? = done.wait(until: MonotonicClock.after(milliseconds: 5_000)) {
            $0 ? true : nil
        }
        unlink(path.cPath)
    }

    private func run() {
        while !outbox.isEnded {
            var places: [VarlinkClientID] = []
            var polled = [pollfd(fd: outbox.number, events: Int16(POLLIN), revents: 0)]
            // poll(2) passes over -1.
            let taken = isShort ? -1 : listener.number
            polled.append(pollfd(fd: taken, events: Int16(POLLIN), revents: 0))
            for (id, connection) in connections {
                places.append(id)
                polled.append(
                    pollfd(fd: connection.number, events: connection.interest, revents: 0))
                polled.append(
                    pollfd(fd: connection.endingNumber, events: Int16(POLLIN), revents: 0))
            }
            let isStalled = connections.values.contains { !$0.output.isEmpty }
            let patience: Int32 = isShort ? 100 : isStalled ? 1_000 : Int32(Self.pace)
            poll(&polled, UInt(polled.count), ready.isEmpty ? patience : 0)
            isShort = false
            deliver()
            for (index, id) in places.enumerated() {
                let (answer, ending) = (polled[2 + 2 * index], polled[3 + 2 * index])
                if answer.revents != 0 { serve(id, answer.revents) }
                // What it asked for ends with it, though others may have inherited the connection.
                if ending.revents != 0 { close(id) }
            }
            // One call of each, then the others' turn: who sends many at once holds nobody up.
            let next = ready
            ready = []
            for id in next { handleNext(id) }
            if polled[1].revents != 0 { accept() }
            cutOff()
            keepName()
        }
        for id in Array(connections.keys) { close(id) }
        done.signal { $0 = true }
    }

    /// Listens anew where the socket's name is gone: the folder of a user's sockets goes when they log out, and
    /// comes back empty, while their mounts stay. Who is connected notices nothing.
    private func keepName() {
        let now = MonotonicClock.now
        if now < looked + Self.pace * 1_000_000 { return }
        looked = now
        guard access(path.cPath, F_OK) != 0, errno == ENOENT,
            let made = try? UnixSocket.listen(at: path)
        else { return }
        listener = made
    }

    // MARK: Connections

    private func accept() {
        for _ in 0..<Self.intake {
            guard let connection = VarlinkConnection(of: listener.number) else {
                isShort = [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno)
                return
            }
            // Whoever may not be here is told nothing; the file's mode keeps most away.
            let user = connection.peer.user
            guard user == geteuid() || user == 0 else { continue }
            guard connections.count < limits.clients else {
                // It reads that as the reply to its first call, also if it calls after the end.
                connection.output.append(service.refusal(limits.clients).bytes)
                _ = connection.write()
                continue
            }
            serial += 1
            connections[VarlinkClientID(serial: serial)] = connection
        }
    }

    private func close(_ id: VarlinkClientID) {
        guard connections.removeValue(forKey: id) != nil else { return }
        outbox.forget(id)
        service.ended(id)
    }

    /// Ends connections that take too much, or read nothing.
    private func cutOff() {
        let now = MonotonicClock.now
        for (id, connection) in connections
        where connection.output.count > connection.room || outbox.isOverfull(id)
            || !connection.output.isEmpty
                && connection.lastRead + limits.patience * 1_000_000 < now
        {
            close(id)
        }
    }

    private func serve(_ id: VarlinkClientID, _ events: Int16) {
        guard let connection = connections[id] else { return }
        if events & Int16(POLLERR | POLLNVAL) != 0 { return close(id) }
        if events & Int16(POLLOUT) != 0 {
            if !connection.write() { return close(id) }
            draw(id)
            if connections[id] == nil { return }
        }
        if events & Int16(POLLIN) != 0 {
            if !connection.read(limits.message) { connection.isFinished = true }
            handleNext(id)
        }
        // Who has only finished sending still gets the replies.
        if events & Int16(POLLHUP) != 0 || connection.isOver { close(id) }
    }

    // MARK: Calls

    /// Looks at the next message that came, unless a call is under way. When its call is over the
    /// connection is ``ready`` for another.
    private func handleNext(_ id: VarlinkClientID) {
        guard let connection = connections[id], !connection.isBusy else { return }
        // Short calls can have long replies: no more are made for one that reads none.
        if connection.output.count > connection.room { return close(id) }
        guard let message = connection.input.next() else {
            if connection.input.count > limits.message || connection.isOver { close(id) }
            return
        }
        guard let call = VarlinkCall(message) else { return close(id) }
        connection.isBusy = true
        let replier = VarlinkReplier(
            client: id, peer: connection.peer, outbox: outbox, isOneWay: call.isOneWay)
        answer(call, replier)
        deliver()
    }

    private func answer(_ call: VarlinkCall, _ replier: VarlinkReplier) {
        let dot = call.method.lastIndex(of: ".") ?? call.method.startIndex
        let interface = String(call.method[..<dot])
        switch call.method {
        case "org.varlink.service.GetInfo":
            let names = (["org.varlink.service"] + service.interfaces.keys.sorted())
            replier.send(
                VarlinkReply([
                    "vendor": .string(service.product.vendor),
                    "product": .string(service.product.name),
                    "version": .string(service.product.version),
                    "url": .string(service.product.url),
                    "interfaces": .array(names.map { .string($0) }),
                ]))
        case "org.varlink.service.GetInterfaceDescription":
            guard let name = call.parameters["interface"]?.string else {
                return replier.send(VarlinkError.invalidParameter("interface"))
            }
            let text =
                name == "org.varlink.service" ? Self.description : service.interfaces[name]
            guard let text else { return replier.send(VarlinkError.interfaceNotFound(name)) }
            replier.send(VarlinkReply(["description": .string(text)]))
        case _ where interface == "org.varlink.service":
            replier.send(VarlinkError.methodNotFound(call.method))
        case _ where service.interfaces[interface] == nil:
            replier.send(VarlinkError.interfaceNotFound(interface))
        default: service.handle(call, replier)
        }
    }

    /// Passes replies on to the connections.
    private func deliver() {
        let (replies, streams) = outbox.take()
        for (id, bytes, isLast) in replies { pass(bytes, to: id, isLast: isLast) }
        for (id, stream) in streams {
            if let stream { connections[id]?.stream = stream }
            draw(id)
        }
    }

    private func pass(_ bytes: [UInt8], to id: VarlinkClientID, isLast: Bool) {
        guard let connection = connections[id] else { return }
        if connection.output.isEmpty {
            connection.lastRead = MonotonicClock.now
            // One reply may be as long as it has to be.
            connection.room = max(limits.unread, bytes.count)
        }
        connection.output.append(bytes)
        if !connection.write() {
            close(id)
        } else if isLast, connection.isBusy {
            connection.isBusy = false
            ready.insert(id)
        }
    }

    /// Takes replies from the connection's stream until the client has to read first.
    private func draw(_ id: VarlinkClientID) {
        while let connection = connections[id], let stream = connection.stream,
            connection.output.isEmpty
        {
            switch stream.next() {
            case .message(let bytes): pass(bytes + [0], to: id, isLast: false)
            case .last(let reply):
                connection.stream = nil
                pass(reply.bytes, to: id, isLast: true)
            case .nothing: return
            case .overfull: return close(id)
            }
        }
    }

    /// The interface that every service has.
    private static let description = """
        # The Varlink Service Interface is provided by every varlink service. It describes the
        # service and the interfaces it implements.
        interface org.varlink.service

        # Get a list of all the interfaces a service provides and information about the
        # implementation.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # Get the description of an interface that is implemented by this service.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The requested interface was not found.
        error InterfaceNotFound (interface: string)

        # The requested method was not found.
        error MethodNotFound (method: string)

        # The interface defines the requested method, but the service does not implement it.
        error MethodNotImplemented (method: string)

        # One of the passed parameters is invalid.
        error InvalidParameter (parameter: string)

        # Client is denied access.
        error PermissionDenied ()

        # Method is expected to be called with 'more' set to true, but wasn't.
        error ExpectedMore ()

        """
}
