internal import Model
internal import Synchronization
internal import SystemCalls

/// The objects of an S3 bucket below a prefix as a source: the slashes in their keys make the folders.
/// S3 has no ids, so an object that was copied to another key and removed is a new one.
package final class S3Tree: SourceTree {
    package let address: String
    private let prefix: String
    private let store: S3Store
    private let retries: Retrying.Policy
    /// Whether etags that look like MD5 digests are compared with the bytes: until it turns out that they
    /// only look so.
    private let hasDigestsAsTags = Atomic(true)

    package init(_ address: S3Address, _ settings: StoreSettings) {
        self.address = address.description
        prefix = address.prefix.isEmpty ? "" : address.prefix + "/"
        store = S3Store(address, timeouts: settings.timeouts)
        retries = settings.retries
    }

    package func walk(
        _ call: StoreCall, _ visit: (SourceEntry) throws(StoreError) -> Void
    ) throws(StoreError) -> PassedOver {
        var passedOver = PassedOver()
        // Keys with one beginning stand together, so the folders of the last one are enough.
        // All is compared as bytes: names that differ in nothing but the form of a letter are two.
        let prefix = Array(self.prefix.utf8)
        var folders: [ArraySlice<UInt8>] = []
        var last: String?
        // A key that stands there twice is one object.
        var shown: String?
        // One at the end of a page is the first of the next one again.
        var strange: Set<String> = []
        while true {
            let page = try retries.retrying(call, at: address) {
                () throws(StoreError) in try store.page(after: last, call)
            }
            for key in page.strange where !strange.contains(key) { passedOver.note(key) }
            strange = Set(page.strange)
            for entry in page.entries {
                let key = Array(entry.key.utf8)
                guard key.starts(with: prefix) else { continue }
                if entry.key.utf8.elementsEqual((shown ?? "").utf8) {
                    passedOver.note(entry.key)
                    continue
                }
                shown = entry.key
                var parts = key.dropFirst(prefix.count).split(
                    separator: 0x2f, omittingEmptySubsequences: false)
                // A key that ends with a slash marks a folder.
                let name = parts.removeLast()
                let path = Array(key.dropFirst(prefix.count))
                guard parts.allSatisfy({ SourceEntry.isName($0) }),
                    name.isEmpty || SourceEntry.isName(name),
                    SourceEntry.isBounded(path, tag: [])
                else {
                    passedOver.note(entry.key)
                    continue
                }
                var common = 0
                while common < min(parts.count, folders.count), parts[common] == folders[common] {
                    common += 1
                }
                for depth in common..<max(common, parts.count) {
                    let path = Array(parts[...depth].joined(separator: [0x2f]))
                    try visit(SourceEntry(.folder, path: path))
                }
                folders = parts
                let size = entry.size ?? -1
                if name.isEmpty {
                    // A directory cannot show what is in such a key itself.
                    if size > 0 { passedOver.note(entry.key) }
                    continue
                }
                let tag = SourceTag.of(etag: entry.etag, modified: "")
                guard (0...SourceEntry.largest).contains(size),
                    SourceEntry.isBounded(path, tag: tag)
                else {
                    // What is below has keys of its own.
                    passedOver.noteUnshown(entry.key, at: path, isFolder: false)
                    continue
                }
                try visit(
                    SourceEntry(
                        .file(size), path: path, tag: tag,
                        modified: ISODate.seconds(entry.modified).map {
                            Timestamp(seconds: $0, nanoseconds: 0)
                        }))
            }
            if page.isLast { return passedOver }
            last = page.entries.last?.key
        }
    }

    package func read(
        _ object: SourceObject, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        if range.isEmpty { return }
        guard range == object.blob.range, !object.isSeenInParts,
            hasDigestsAsTags.load(ordering: .relaxed), let expected = SourceTag.md5(object.tag)
        else {
            _ = try fetch(object, range, into: sink, call)
            return
        }
        let first = RunningDigest(.md5)
        let head = try fetch(object, range, into: sink, call, first)
        let came = first.finish()
        if came == expected || Self.isEncryptedByKey(head) { return }
        // Either they were spoilt on the way, or the etag is no digest, whatever it looks like: then the
        // same bytes come again.
        let second = RunningDigest(.md5)
        do throws(StoreError) { _ = try fetch(object, range, into: sink, call, second) } catch {
            // Not to be taken up where it broke off: nobody would compare it.
            throw StoreError(
                error.isTransient ? .corrupt : error.kind, at: address,
                "\(object.name) came with other bytes than its etag tells, and did not come again:"
                    + " \(error.reason)")
        }
        switch second.finish() {
        case expected: return
        case came: hasDigestsAsTags.store(false, ordering: .relaxed)
        default:
            throw StoreError(
                .corrupt, at: address,
                "\(object.name) came twice, with other bytes each time, and not with those that its"
                    + " etag tells")
        }
    }

    /// Where objects are encrypted with a key of the user's, their etags look like digests and are none.
    private static func isEncryptedByKey(_ head: HTTPHead) -> Bool {
        head.field("x-amz-server-side-encryption-customer-algorithm") != nil
            || head.field("x-amz-server-side-encryption")?.hasPrefix("aws:kms") ?? false
    }

    /// The head of the answer, when all of the range has come.
    ///
    /// - Parameter digest: of what comes.
    private func fetch(
        _ object: SourceObject, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall,
        _ digest: RunningDigest? = nil
    ) throws(StoreError) -> HTTPHead {
        let receiver = BlobReceiver(
            object.blob, range, sink, call, address: address, object: object, digest: digest)
        var request = S3Request(method: "GET", key: prefix + object.name)
        if let field = receiver.rangeField { request.headers.append(("range", field)) }
        let answer = try store.transport.send(request, receiver: receiver, call)
        switch answer.head.status {
        case 200, 206: try store.transport.answers.requireAll(receiver)
        case 404 where S3Problem(answer)?.code != "NoSuchBucket": throw object.gone(address)
        case 416: throw object.changed(address)
        default: throw store.error(answer, "getting \(object.name)")
        }
        return answer.head
    }
}
