package import Logging
package import Model
internal import SystemCalls

/// Writes every call to a log: what, how long, how it ended.
package struct Logged: ContentStore {
    private let store: any ContentStore
    private let logger: Logger

    package init(_ store: any ContentStore, _ logger: Logger) {
        self.store = store
        self.logger = logger
    }

    package var address: String { store.address }

    /// - Parameter details: made only if they are logged.
    private func logging<Result>(
        _ name: String, _ details: @autoclosure () -> Logger.Metadata = [:],
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let start = MonotonicClock.now
        func metadata(_ error: StoreError? = nil) -> Logger.Metadata {
            var metadata = details()
            metadata["store"] = "\(address)"
            metadata["milliseconds"] = "\((MonotonicClock.now - start) / 1_000_000)"
            if let error { metadata["reason"] = "\(error.reason)" }
            return metadata
        }
        do throws(StoreError) {
            let result = try body()
            logger.debug("\(name)", metadata: metadata())
            return result
        } catch {
            logger.log(
                level: error.kind == .cancelled ? .debug : .warning, "\(name) failed",
                metadata: metadata(error))
            throw error
        }
    }

    package func prepare(_ call: StoreCall) throws(StoreError) {
        try logging("prepare") { () throws(StoreError) in try store.prepare(call) }
    }

    package func put(_ blob: Blob, from source: any BlobSource, _ call: StoreCall)
        throws(StoreError)
    {
        try logging("put", ["blob": "\(blob.hash)", "size": "\(blob.size)"]) {
            () throws(StoreError) in
            try store.put(blob, from: source, call)
        }
    }

    package func get(
        _ blob: Blob, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        try logging("get", ["blob": "\(blob.hash)", "range": "\(range)"]) {
            () throws(StoreError) in
            try store.get(blob, range, into: sink, call)
        }
    }

    package func stat(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) -> Int64? {
        try logging("stat", ["blob": "\(hash)"]) { () throws(StoreError) in
            try store.stat(hash, call)
        }
    }

    package func delete(_ hash: ContentHash, _ call: StoreCall) throws(StoreError) {
        try logging("delete", ["blob": "\(hash)"]) { () throws(StoreError) in
            try store.delete(hash, call)
        }
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        try logging("sweep") { () throws(StoreError) in try store.sweep(isAbandoned, call) }
    }

    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        try logging("put", ["companion": "\(companion.fileName)", "size": "\(bytes.count)"]) {
            () throws(StoreError) in
            try store.put(companion, bytes, call)
        }
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        try logging("get", ["companion": "\(companion.fileName)"]) { () throws(StoreError) in
            try store.get(companion, call)
        }
    }

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        try logging("list") { () throws(StoreError) in
            try store.list(after: hash, limit: limit, call)
        }
    }
}
