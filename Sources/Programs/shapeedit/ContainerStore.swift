import Content
import Logging
import Model
import Promises
import Stores
import SystemCalls

/// The store of a container, as the daemon uses it.
enum ContainerStore {
    /// The daemon's: what fails there nobody else tells of.
    static let logger = Logger(label: "store")
    /// A command's own message says what failed.
    private static let silent: Logger = {
        var logger = Logger(label: "store")
        logger.logLevel = .critical
        return logger
    }()

    /// Contents that are looked for and not there before a listing is believed that does not have others either.
    private static let patience = 100

    /// An address as it is kept; what is none is told when it is checked.
    static func usualForm(_ address: String) -> String {
        StoreAddress.usualForm(address) ?? address
    }

    /// Opens the store at `address`; nothing is sent.
    ///
    /// - Parameters:
    ///   - patience: a store that does not answer is given up after this, in seconds.
    ///   - logger: where it is told what fails; nowhere, if a command tells it.
    static func open(
        _ address: String, patience: Double = 20, logger: Logger? = nil
    ) throws(Failure) -> any ContentStore {
        try StoreAddress(parsing: address).open(settings(patience), logger: logger ?? silent)
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

    /// Makes the container whose folder is `path` the owner of a store that nobody has used. If it is
    /// not, or does not answer, nothing will be removed there.
    static func claim(_ address: String, _ path: String) {
        guard let store = try? open(address) else { return }
        let file = ContainerFolder(path: path).storeOwner
        try? StoreOwnership(store, address: address, path: file).claim(StoreCall())
    }

    /// Sees to it that no other container removes anything from the store at `address` any more, unless
    /// the one whose folder is `path` owns it: before anything there is counted on.
    static func join(_ address: String, _ path: String) throws(Failure) {
        let file = ContainerFolder(path: path).storeOwner
        let ownership = StoreOwnership(try open(address), address: address, path: file) {
            Console.complain(
                """
                another container uses the store: in two minutes, or twelve if it was removing \
                something, it will remove nothing there
                """)
        }
        do throws(StoreError) { try ownership.isOwner(StoreCall()) } catch {
            throw failure(error)
        }
    }

    /// All contents in the store and their sizes; `nil`, and a word about it, if it does not answer.
    ///
    /// - Parameter expected: what should be there. A listing may lag behind what was put: those are looked for by
    ///   themselves that it does not have, unless the first ones are not there either.
    static func contents(_ address: String, expected: Set<ContentHash>) -> [ContentHash: Int64]? {
        var found: [ContentHash: Int64] = [:]
        var settings = settings(20)
        // Whoever checks is there to try again.
        settings.retries.total = 0
        do {
            let store = try StoreAddress(parsing: address).open(settings, logger: silent)
            var last: ContentHash?
            while true {
                let page = try store.list(after: last, limit: 10_000, StoreCall())
                for blob in page.blobs { found[blob.hash] = blob.size }
                last = page.blobs.last?.hash ?? last
                if page.isLast { break }
            }
            var absent = 0
            for hash in expected where found[hash] == nil && absent < patience {
                found[hash] = try store.stat(hash, StoreCall())
                absent += found[hash] == nil ? 1 : 0
            }
            return found
        } catch {
            Console.complain("the store was not checked: \(error)")
            return nil
        }
    }

    /// Fails for an address that no container can have.
    static func check(_ address: String) throws(Failure) {
        let parsed = try StoreAddress(parsing: address)
        try parsed.requireAbsoluteFiles()
        if case .folder(let path) = parsed {
            try Containers.checkApart(store: path)
        }
    }

    /// Whether two addresses are known to be one store's, there or not: of a folder, whatever path leads to it.
    static func isSame(_ address: String, _ other: String) throws(Failure) -> Bool {
        let (store, other) = (
            try StoreAddress(parsing: address), try StoreAddress(parsing: other)
        )
        if store == other { return true }
        guard case .folder(let path) = store, case .folder(let otherPath) = other,
            let place = FolderPlace(path)
        else { return false }
        return place == FolderPlace(otherPath)
    }

    /// What is said of a store that fails a command, and of this machine's disk, if it was that.
    static func failure(_ error: StoreError) -> Failure {
        switch error.kind {
        case .local: Failure(.inputOutput, "\(error)")
        case .denied: Failure(.noPermission, "the store \(error)")
        default: Failure(.unavailable, "the store \(error)")
        }
    }

    /// Makes what a new store needs; fails if it does not answer, or cannot be a store.
    static func prepare(_ address: String) throws(Failure) {
        try check(address)
        let store = try open(address)
        do throws(StoreError) {
            try store.prepare(StoreCall())
        } catch {
            throw failure(error)
        }
    }
}
