import Logging
import Model
import Stores
import SystemCalls

/// The store of a container, as the daemon uses it.
enum ContainerStore {
    static let logger = Logger(label: "store")

    /// Opens the store at `address`; nothing is sent.
    ///
    /// - Parameter patience: a store that does not answer is given up after this, in seconds.
    static func open(_ address: String, patience: Double = 20) throws(Failure)
        -> any ContentStore
    {
        try StoreAddress(parsing: address).open(settings(patience), logger: logger)
    }

    /// What bounds the waiting for a server.
    ///
    /// - Parameter patience: seconds.
    static func settings(_ patience: Double) -> StoreSettings {
        var settings = StoreSettings()
        settings.retries.total = patience
        settings.timeouts.stall = patience
        settings.timeouts.answer = patience
        return settings
    }

    /// Makes what a new store needs; fails if it does not answer.
    static func prepare(_ address: String) throws(Failure) {
        let store = try open(address)
        do throws(StoreError) {
            try store.prepare(StoreCall())
        } catch {
            throw Failure(
                error.kind == .denied ? .noPermission : .unavailable, "the store \(error)")
        }
    }
}
