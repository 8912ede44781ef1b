internal import Synchronization

/// Makes one SQL statement of this process fail, so that a test can try every place where one can.
///
/// Asked once before each step of a statement; off, that is one relaxed atomic load. May be used
/// from any thread.
package enum StatementFaults {
    /// What the statement fails with, as SQLite numbers it.
    package enum Code: Int32, Sendable, CaseIterable {
        /// SQLITE_IOERR
        case inputOutput = 10
        /// SQLITE_FULL
        case full = 13
    }

    private struct State {
        var remaining = 0
        var code = Code.inputOutput
        var database: String?
    }

    private static let armed = Atomic<Bool>(false)
    private static let state = Mutex(State())

    /// The `count`-th step from now on (1 is the next) fails with `code`, once.
    ///
    /// Only the steps on the file `database` count, named as it was given to
    /// ``CatalogDatabase/init(path:create:)``; `nil` counts all.
    package static func arm(after count: Int, code: Code, database: String? = nil) {
        state.withLock { $0 = State(remaining: count, code: code, database: database) }
        armed.store(count > 0, ordering: .releasing)
    }

    /// No step fails any more.
    package static func disarm() { arm(after: 0, code: .inputOutput) }

    /// Steps left until the one that fails, itself included; 0 once it has failed or if disarmed.
    package static var left: Int { state.withLock { $0.remaining } }

    @inline(__always)
    static func next(_ database: String) -> Int32? {
        if !armed.load(ordering: .relaxed) { return nil }
        return count(database)
    }

    @inline(never)
    private static func count(_ database: String) -> Int32? {
        state.withLock { state in
            guard state.remaining > 0, state.database == nil || state.database == database else {
                return nil
            }
            state.remaining -= 1
            guard state.remaining == 0 else { return nil }
            armed.store(false, ordering: .relaxed)
            return state.code.rawValue
        }
    }
}
