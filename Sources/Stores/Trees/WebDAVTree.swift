internal import Model
internal import PathText
internal import Synchronization

/// A collection of a WebDAV server as a source. Things that the server gives an id (`oc:fileid` of
/// ownCloud and Nextcloud, or `DAV:resource-id`) keep it when they are moved.
package final class WebDAVTree: SourceTree {
    package let address: String
    private let path: String
    let transport: WebDAVTransport
    private let retries: Retrying.Policy
    /// Whether the server was found to send contents without saying of which version they are.
    let isSilent = Atomic(false)

    /// What tells one version of a file from another.
    static let versionProperties = "<getetag/><getlastmodified/>"

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
            do throws(StoreError) {
                var part = PassedOver()
                try retries.retrying(call, at: address) { () throws(StoreError) in
                    part = PassedOver()
                    var listed: Set<Int> = []
                    try members(of: folder, call) { (path, member) throws(StoreError) in
                        // Also if it is written in two ways.
                        guard listed.insert(path.hashValue).inserted else {
                            return part.note(String(path: path))
                        }
                        switch member {
                        case .shown(let entry):
                            guard shown.insert(path.hashValue).inserted else { return }
                            try visit(entry)
                            if entry.kind == .folder { folders.append(path) }
                        case .strange(let isFolder):
                            part.noteUnshown(String(path: path), at: path, isFolder: isFolder)
                        case .closed(let problem): part.noteClosed(path, problem)
                        }
                    }
                }
                passedOver.add(part)
            } catch {
                switch error.kind {
                // One that is closed to us, or has a name that the server understands in its listings alone,
                // does not keep us from the others.
                case .absent, .denied, .refused(status: 400), .refused(status: 414): break
                default: throw error
                }
                guard !folder.isEmpty, try isThere(call) else { throw error }
                if error.kind == .absent {
                    passedOver.hasGone = true
                } else {
                    passedOver.noteClosed(folder, error)
                }
            }
        }
        return passedOver
    }

    /// Whether the collection itself is there: if a folder in it is not, that one has gone since it was
    /// shown.
    private func isThere(_ call: StoreCall) throws(StoreError) -> Bool {
        try retries.retrying(call, at: address) { () throws(StoreError) in
            try transport.isThere(Array((path + "/").utf8), naming: "the collection", call)
        }
    }

    func absolute(_ path: [UInt8]) -> [UInt8] {
        Array(self.path.utf8) + (path.isEmpty ? [] : [0x2f] + path)
    }

    private func members(
        of folder: [UInt8], _ call: StoreCall,
        _ visit: ([UInt8], Member) throws(StoreError) -> Void
    ) throws(StoreError) {
        let path = absolute(folder)
        let name = folder.isEmpty ? "the collection" : String(decoding: folder, as: UTF8.self)
        try transport.list(
            path,
            "<resourcetype/><getcontentlength/>\(Self.versionProperties)<resource-id/><oc:fileid/>",
            naming: name, call
        ) { (response, subject) throws(StoreError) in
            if subject == .itself, let status = response.refusal {
                // With no members it would look empty.
                throw transport.answers.error(status, "listing \(name)")
            }
            if subject == .itself, response.foundProperties.isFile {
                throw StoreError(.absent, at: address, "\(name) is no collection, but a file")
            }
            guard case .member(let name) = subject else { return }
            let place = folder.isEmpty ? name : folder + [0x2f] + name
            guard SourceEntry.isName(name), SourceEntry.isBounded(place, tag: []) else {
                return try visit(place, .strange(isFolder: true))
            }
            var member = try member(response, at: place, call)
            if case .shown(let entry) = member,
                !SourceEntry.isBounded(place, identity: entry.identity, tag: entry.tag)
            {
                member = .strange(isFolder: entry.kind == .folder)
            }
            try visit(place, member)
        }
    }

    /// What a listing tells of something that is directly in the collection.
    private enum Member {
        case shown(SourceEntry)
        /// Nothing tells how large the file is, which must not be taken for an empty one, or whether it is one;
        /// or none is so large. Or more is told of it than can be kept.
        ///
        /// - Parameter isFolder: or may be one.
        case strange(isFolder: Bool)
        /// The server does not let us see it, or cannot look at it now. It is there: a refresh must not take
        /// it for removed, with all that is in it.
        case closed(StoreError)
    }

    /// A file whose size, or both etag and date, are not in the listing is asked for them by itself.
    private func member(_ response: XMLElement, at path: [UInt8], _ call: StoreCall)
        throws(StoreError) -> Member
    {
        if let status = response.refusal {
            return .closed(transport.answers.error(status, "looking at \(String(path: path))"))
        }
        if response.isUnclear { return .strange(isFolder: true) }
        let found = response.foundProperties
        let isFolder = found.isCollection
        let fileID = found.text("fileid", in: FoundProperties.ownCloud)
        let identity =
            fileID.isEmpty ? found.element("resource-id")?.text("href") ?? "" : fileID
        var modified = found.text("getlastmodified")
        if isFolder {
            return .shown(
                SourceEntry(
                    .folder, path: path, identity: Array(identity.utf8),
                    modified: HTTPDate.seconds(modified).map {
                        Timestamp(seconds: $0, nanoseconds: 0)
                    }))
        }
        var told = Int64(found.text("getcontentlength"))
        var etag = found.text("getetag")
        if told == nil || etag.isEmpty && modified.isEmpty {
            let answer = try transport.send(
                HTTPRequest("HEAD", transport.url(absolute(path))), call)
            if answer.head.status == 200 {
                if told == nil { told = try size(answer.head, of: path, call) }
                if etag.isEmpty, modified.isEmpty {
                    etag = answer.head.field("etag") ?? ""
                    modified = answer.head.field("last-modified") ?? ""
                }
            } else if told == nil {
                let problem = transport.answers.error(
                    answer, "asking for \(String(path: path))")
                if problem.isTransient { throw problem }
                if problem.kind == .denied { return .closed(problem) }
            }
        }
        guard let size = told, (0...SourceEntry.largest).contains(size) else {
            return .strange(isFolder: found.element("resourcetype") == nil)
        }
        let isNamed = !etag.isEmpty || !modified.isEmpty
        return .shown(
            SourceEntry(
                .file(size), path: path, identity: Array(identity.utf8),
                tag: isNamed
                    ? SourceTag.of(etag: etag, modified: modified) : SourceTag.of(size: size),
                modified: HTTPDate.seconds(modified).map {
                    Timestamp(seconds: $0, nanoseconds: 0)
                }))
    }

    /// The size of a file that is not in the listing; `nil` if nothing tells it.
    ///
    /// - Parameter head: what HEAD is answered. That has no body, and some servers tell the length of none: then
    ///   the answer with the content is begun.
    private func size(_ head: HTTPHead, of path: [UInt8], _ call: StoreCall)
        throws(StoreError) -> Int64?
    {
        guard head.contentLength == 0 else { return head.contentLength }
        let answer = try transport.send(HTTPRequest("GET", transport.url(absolute(path))), call)
        guard answer.head.status == 200 else {
            let problem = transport.answers.error(answer, "getting \(String(path: path))")
            if problem.isTransient { throw problem }
            return nil
        }
        return answer.head.contentLength ?? (answer.isCut ? nil : Int64(answer.body.count))
    }
}

/// What tells that a server's object is the one that was listed.
enum SourceTag {
    /// An etag, or the time of the last change where the server has no etags.
    static func of(etag: String, modified: String) -> [UInt8] {
        Array((etag.isEmpty ? "t" + modified : "e" + bare(etag)).utf8)
    }

    /// Where the server has neither: the size is all that tells one version from another.
    static func of(size: Int64) -> [UInt8] { Array("s\(size)".utf8) }

    /// Whether nothing but the size is known of the version.
    static func isOnlySize(_ tag: [UInt8]) -> Bool { tag.first == UInt8(ascii: "s") }

    /// Whether an answer is about the object with this tag. An answer that does not say is not.
    static func matches(_ tag: [UInt8], _ head: HTTPHead) -> Bool {
        switch tag.first {
        case UInt8(ascii: "e"):
            head.field("etag").map { Array(bare($0).utf8).elementsEqual(tag.dropFirst()) } ?? false
        case UInt8(ascii: "t") where tag.count > 1:
            head.field("last-modified").map { isSameDate($0, tag.dropFirst()) } ?? false
        default: false
        }
    }

    /// There are servers that write the date otherwise in a listing than in the answer with the content.
    private static func isSameDate(_ told: String, _ listed: ArraySlice<UInt8>) -> Bool {
        if told.utf8.elementsEqual(listed) { return true }
        guard let seconds = HTTPDate.seconds(told) else { return false }
        return seconds == HTTPDate.seconds(String(decoding: listed, as: UTF8.self))
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
