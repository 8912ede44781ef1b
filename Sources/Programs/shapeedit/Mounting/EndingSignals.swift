import Glibc

/// Signals that would end this program, held back until it has taken away what it has begun: then it ends as it
/// would have. Used by one thread, while there is no other.
struct EndingSignals {
    private let numbers: [Int32]

    /// Holds them from now on, but for those that are ignored.
    init() {
        numbers = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].filter { IgnoredSignals.set($0, SIG_DFL) }
        change(SIG_BLOCK)
    }

    /// Whether one has come.
    var haveCome: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Lets them end the program.
    func release() { change(SIG_UNBLOCK) }

    private func change(_ how: Int32) {
        var held = sigset_t()
        sigemptyset(&held)
        for number in numbers { sigaddset(&held, number) }
        pthread_sigmask(how, &held, nil)
    }
}
