internal import CSystemShim
internal import Glibc

/// Threads of the operating system, for work that blocks.
public enum Threads {
    /// Starts `body` on a thread of its own that nobody joins.
    ///
    /// Where there can be no more threads (RLIMIT_NPROC, memory) the process ends and says so, as nothing
    /// would do the work; after ``waitForRoom()`` it begins as soon as there can be one.
    ///
    /// - Parameters:
    ///   - name: shown by `ps -L`; at most 15 bytes are kept.
    ///   - yielding: lets threads that somebody waits for go first.
    ///   - owner: lives as long as the thread, which may go on a little when it was told to end.
    public static func start(
        _ name: String, yielding: Bool = false, keeping owner: (any AnyObject & Sendable)? = nil,
        _ body: @escaping @Sendable () -> Void
    ) {
        let body = { @Sendable in withExtendedLifetime(owner, body) }
        let box = Box(name: String(name.prefix(15)), yields: yielding, body: body)
        let problem = create(box)
        if problem == 0 { return }
        if waits.withLock({ $0 }) {
            late.signal { $0.append(box) }
        } else {
            end(problem)
        }
    }

    /// The same where there can be one more thread: else `body` is not run, and the answer is `false`.
    public static func startIfPossible(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        create(Box(name: String(name.prefix(15)), yields: false, body: body)) == 0
    }

    /// Gives the calling thread a name, which is that of the whole process if it is the first one.
    ///
    /// - Parameter name: at most 15 bytes are kept.
    public static func rename(_ name: String) { shim_set_thread_name(String(name.prefix(15))) }

    /// The calling thread, as the kernel numbers it.
    package static var current: Int32 { shim_thread_id() }

    /// From now on a shortage of threads does not end the process: who starts one may serve everybody, and
    /// does not wait for it either.
    package static func waitForRoom() {
        waits.withLock { waits in
            if waits { return }
            // It is there from the beginning: later there may be no room for it.
            let problem = create(Box(name: "starter", yields: false) { startLate() })
            if problem != 0 { end(problem) }
            waits = true
        }
    }

    private static let waits = Lock(false)
    /// What could not be started yet.
    private static let late = Monitor<[Box]>([])

    private static func end(_ problem: Int32) -> Never {
        let text = "\(program()): no thread could be started: \(Errno(problem))\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
        _exit(EX_OSERR)
    }

    private static func program() -> String {
        let path = CommandLine.arguments.first ?? "shapeedit"
        return String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    private static func startLate() {
        while true {
            guard let box = late.wait({ $0.first }) else { continue }
            // Nobody tells of the end of the processes that are in the way.
            while create(box) != 0 { usleep(20_000) }
            late.withLock { _ = $0.removeFirst() }
        }
    }

    /// Makes the thread; 0, or why there can be none now.
    private static func create(_ box: Box) -> Int32 {
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(box)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
                shim_set_thread_name(box.name)
                if box.yields { shim_lower_priority(5) }
                box.body()
                return nil
            }, retained.toOpaque())
        if result == 0 { pthread_detach(thread) } else { retained.release() }
        return result
    }

    private final class Box: Sendable {
        let name: String
        let yields: Bool
        let body: @Sendable () -> Void
        init(name: String, yields: Bool, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.yields = yields
            self.body = body
        }
    }
}
