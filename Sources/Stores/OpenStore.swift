package import Logging

/// How a store is used: all the wrappers' settings.
package struct StoreSettings: Sendable {
    package var timeouts = Timeouts()
    package var retries = Retrying.Policy()
    /// Calls at once; some are kept for those somebody waits for.
    package var calls = 8
    package var reservedCalls = 2
    /// Bytes a second; `nil` for no bound.
    package var puttingRate: Double?
    package var gettingRate: Double?

    package init() {}
}

extension StoreAddress {
    /// The bare store at this address. Nothing is sent before the first call.
    package func connect(timeouts: Timeouts = Timeouts()) -> any ContentStore {
        switch self {
        case .folder(let path): FolderStore(path: path)
        case .s3(let address): S3Store(address, timeouts: timeouts)
        case .webDAV(let address): WebDAVStore(address, timeouts: timeouts)
        }
    }

    /// The store at this address as the daemon uses it: limited, retried, verified.
    ///
    /// A call gives its place up between two attempts, so that a wait for one blob holds up no other.
    package func open(_ settings: StoreSettings = StoreSettings(), logger: Logger)
        -> any ContentStore
    {
        var store = connect(timeouts: settings.timeouts)
        if settings.puttingRate != nil || settings.gettingRate != nil {
            store = Throttled(
                store, putting: settings.puttingRate, getting: settings.gettingRate)
        }
        store = Limited(store, calls: settings.calls, reserved: settings.reservedCalls)
        store = Logged(store, logger)
        store = Retrying(store, settings.retries)
        return Verifying(store)
    }
}
