internal import Model

/// A collection of a WebDAV server as a source. Things that the server gives an id (`oc:fileid` of
/// ownCloud and Nextcloud, or `DAV:resource-id`) keep it when they are moved.
package final class WebDAVTree: SourceTree {
    package let address: String
    private let path: String
    private let transport: WebDAVTransport
    private let retries: Retrying.Policy

    package init(_ address: WebDAVAddress, _ settings: StoreSettings) {
        self.address = address.description
        path = address.path
        transport = WebDAVTransport(address, CredentialSource(for: address), settings.timeouts)
        retries = settings.retries
    }

    package func walk(
        _ call: StoreCall, _ visit: (SourceEntry) throws(StoreError) -> Void
    ) throws(StoreError) -> PassedOver {
        var passedOver = PassedOver()
        var folders: [[UInt8]] = [[]]
        while let folder = folders.popLast() {
            // Shown as they come; an attempt that broke off has shown some already.
            var shown: Set<Int> = []
            try retries.retrying(call, at: address) { () throws(StoreError) in
                try members(of: folder, call) { (entry) throws(StoreError) in
                    guard shown.insert(entry.path.hashValue).inserted else { return }
                    try visit(entry)
                    if entry.kind == .folder { folders.append(entry.path) }
                } strange: { path in
                    if shown.insert(path.hashValue).inserted {
                        passedOver.note(String(decoding: path, as: UTF8.self))
                    }
                }
            }
        }
        return passedOver
    }

    private func absolute(_ path: [UInt8]) -> String {
        path.isEmpty ? self.path : self.path + "/" + String(decoding: path, as: UTF8.self)
    }

    private func members(
        of folder: [UInt8], _ call: StoreCall, _ visit: (SourceEntry) throws(StoreError) -> Void,
        strange: ([UInt8]) -> Void
    ) throws(StoreError) {
        let path = absolute(folder)
        let name = folder.isEmpty ? "the collection" : String(decoding: folder, as: UTF8.self)
        try transport.list(
            path,
            "<resourcetype/><getcontentlength/><getetag/><getlastmodified/><resource-id/><oc:fileid/>",
            naming: name, call
        ) { (response, subject) throws(StoreError) in
            guard case .member(let name) = subject else { return }
            let place = folder.isEmpty ? name : folder + [0x2f] + name
            // Others could not be asked for: paths are text.
            let isText = String(validating: name, as: UTF8.self) != nil
            if isText, SourceEntry.isName(name), let entry = try member(response, at: place, call) {
                try visit(entry)
            } else {
                strange(place)
            }
        }
    }

    /// `nil` if nothing tells how large a file is: it must not be taken for an empty one; or if no file
    /// is so large.
    private func member(_ response: XMLElement, at path: [UInt8], _ call: StoreCall)
        throws(StoreError) -> SourceEntry?
    {
        let found = response.foundProperties
        let isFolder = found.isCollection
        let fileID = found.text("fileid", in: FoundProperties.ownCloud)
        let identity =
            fileID.isEmpty ? found.element("resource-id")?.text("href") ?? "" : fileID
        let modified = found.text("getlastmodified")
        var told = isFolder ? 0 : Int64(found.text("getcontentlength"))
        if told == nil { told = try self.size(of: path, call) }
        guard let size = told, (0...SourceEntry.largest).contains(size) else { return nil }
        return SourceEntry(
            isFolder ? .folder : .file(size), path: path, identity: Array(identity.utf8),
            tag: isFolder ? [] : SourceTag.of(etag: found.text("getetag"), modified: modified),
            modified: HTTPDate.seconds(modified).map {
                Timestamp(seconds: $0, nanoseconds: 0)
            })
    }

    /// What the server says of a file whose size is not in the listing.
    private func size(of path: [UInt8], _ call: StoreCall) throws(StoreError) -> Int64? {
        let answer = try transport.send(HTTPRequest("HEAD", transport.url(absolute(path))), call)
        return answer.head.status == 200 ? answer.head.contentLength : nil
    }

    package func read(
        _ object: SourceObject, _ range: Range<Int64>, into sink: any BlobSink, _ call: StoreCall
    ) throws(StoreError) {
        if range.isEmpty { return }
        let receiver = BlobReceiver(
            object.blob, range, sink, call, address: address, object: object)
        var request = HTTPRequest("GET", transport.url(absolute(object.path)))
        if let field = receiver.rangeField { request.headers = [("Range", field)] }
        let answer = try transport.send(request, receiver: receiver, call)
        switch answer.head.status {
        case 200, 206: try transport.answers.requireAll(receiver, object.blob)
        case 404, 410: throw object.gone(address)
        // Shorter than the range.
        case 416: throw object.changed(address)
        default: throw transport.answers.error(answer, "getting \(object.name)")
        }
    }
}

/// What tells that a server's object is the one that was listed.
enum SourceTag {
    /// An etag, or the time of the last change where the server has no etags.
    static func of(etag: String, modified: String) -> [UInt8] {
        Array((etag.isEmpty ? "t" + modified : "e" + bare(etag)).utf8)
    }

    /// Whether an answer is about the object with this tag. An answer that does not say is not.
    static func matches(_ tag: [UInt8], _ head: HTTPHead) -> Bool {
        switch tag.first {
        case UInt8(ascii: "e"):
            head.field("etag").map { Array(bare($0).utf8).elementsEqual(tag.dropFirst()) } ?? false
        case UInt8(ascii: "t") where tag.count > 1:
            head.field("last-modified").map { Array($0.utf8).elementsEqual(tag.dropFirst()) }
                ?? false
        default: false
        }
    }

    /// Whether an answer says which version it is about in the way that the tag does.
    static func isTold(_ tag: [UInt8], _ head: HTTPHead) -> Bool {
        switch tag.first {
        case UInt8(ascii: "e"): head.field("etag") != nil
        case UInt8(ascii: "t") where tag.count > 1: head.field("last-modified") != nil
        default: false
        }
    }

    /// The MD5 that the tag may be: an etag of 32 hexadecimal digits.
    static func md5(_ tag: [UInt8]) -> [UInt8]? {
        guard tag.first == UInt8(ascii: "e"), tag.count == 33 else { return nil }
        return Hexadecimal.bytes(tag.dropFirst())
    }

    /// Without the mark of a weak one, which servers put on and take away again, and quotes.
    private static func bare(_ etag: String) -> String {
        (etag.hasPrefix("W/") ? String(etag.dropFirst(2)) : etag).filter { $0 != "\"" }
    }
}
