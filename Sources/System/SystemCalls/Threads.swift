internal import CSystemShim
internal import Glibc

/// Threads of the operating system, for work that blocks.
public enum Threads {
    /// Starts `body` on a thread of its own that nobody joins.
    ///
    /// - Parameters:
    ///   - name: shown by `ps -L`; at most 15 bytes are kept.
    ///   - yielding: lets threads that somebody waits for go first.
    public static func start(
        _ name: String, yielding: Bool = false, _ body: @escaping @Sendable () -> Void
    ) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(
            Box(name: String(name.prefix(15)), yields: yielding, body: body))
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
                shim_set_thread_name(box.name)
                if box.yields { shim_lower_priority(5) }
                box.body()
                return nil
            }, box.toOpaque())
        precondition(result == 0, "no thread could be started")
        pthread_detach(thread)
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
