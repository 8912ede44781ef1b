internal import SystemCalls

/// Calls back once, however often it is asked to.
final class SingleCall: Sendable {
    private let then: Lock<(@Sendable () -> Void)?>

    init(_ then: @escaping @Sendable () -> Void) { self.then = Lock(then) }

    var isMade: Bool { then.withLock { $0 == nil } }

    func make() {
        let then = then.withLock { then in
            defer { then = nil }
            return then
        }
        then?()
    }
}
