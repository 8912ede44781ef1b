extension WebDAVTransport {
    /// Whether something is at a decoded path.
    ///
    /// - Parameter isGuess: a name that the server refuses for good is none, as nothing tells that there is one.
    func isThere(
        _ path: [UInt8], naming name: String, isGuess: Bool = false, _ call: StoreCall
    ) throws(StoreError) -> Bool {
        var request = HTTPRequest("PROPFIND", url(path))
        request.headers = [("Depth", "0")]
        let answer = try send(request, call)
        switch answer.head.status {
        case 207: return true
        case 404, 410: return false
        case 401, 407, 408, 429: break
        case 400..<500: if isGuess { return false }
        default: break
        }
        throw answers.error(answer, "looking for \(name)")
    }

    /// Shows the `response`s of a PROPFIND of a collection and what is directly in it, as they come, and
    /// what each tells of: a collection of any size takes no more memory than one of them. Throws `absent`
    /// if it is not there, `corrupt` if the answer cannot be understood or ends too early, or if nothing
    /// in it is about the collection: nobody is to take one for empty that is called otherwise there. Where
    /// the server sends us on to another path the listing is about that one, if the store or tree as a whole
    /// is there: else a folder would show what is in another.
    ///
    /// - Parameters:
    ///   - path: decoded, without a slash at its end.
    ///   - properties: elements of the request's `prop`, in the namespaces `DAV:` and `oc:`.
    func list(
        _ path: [UInt8], _ properties: String, naming name: String, _ call: StoreCall,
        _ show: (XMLElement, XMLElement.Subject) throws(StoreError) -> Void
    ) throws(StoreError) {
        let request = HTTPRequest.propfind(url(path + [0x2f]), depth: "1", properties)
        try withoutActuallyEscaping(show) { (show) throws(StoreError) in
            var isAboutIt = false
            var place = path
            let receiver = ListingReceiver(name, at: answers.address) {
                (response) throws(StoreError) in
                let subjects = try response.subjects(from: place) { (path) throws(StoreError) in
                    // There are servers that leave a question mark in a name as it is.
                    try self.isThere(
                        path, naming: String(decoding: path, as: UTF8.self), isGuess: true, call)
                }
                if subjects.isEmpty || subjects.contains(.unclear) {
                    // Left out, it would look as if it had been removed.
                    throw StoreError(
                        .corrupt, at: self.answers.address,
                        "the listing of \(name) has an address"
                            + " without the path from the root on")
                }
                for subject in subjects {
                    if subject != .other { isAboutIt = true }
                    try show(response, subject)
                }
            } moved: { (url) throws(StoreError) in
                place = XMLElement.path(of: url) ?? []
                guard self.isMoved(path, to: place) else {
                    throw StoreError(
                        .corrupt, at: self.answers.address,
                        "\(name) is elsewhere on the server: \(url)")
                }
            }
            let answer = try send(request, receiver: receiver, call)
            guard answer.head.status == 207 else {
                throw answers.error(answer, "listing \(name)")
            }
            guard receiver.isComplete else { throw receiver.notUnderstood }
            guard isAboutIt else {
                throw StoreError(
                    .corrupt, at: answers.address,
                    "the listing of \(name) is about another place: the server, or a proxy before it,"
                        + " calls it by another path")
            }
            if place == path { _ = isMoved(path, to: path) }
        }
    }
}

extension HTTPRequest {
    /// Asks for properties of what is at a URL.
    ///
    /// - Parameter properties: elements of a `prop`, in the namespaces `DAV:` and `oc:`.
    static func propfind(_ url: String, depth: String, _ properties: String) -> HTTPRequest {
        var request = HTTPRequest("PROPFIND", url)
        request.headers = [("Depth", depth), ("Content-Type", "application/xml")]
        request.body = .bytes(
            Array(
                ("<?xml version=\"1.0\"?><propfind xmlns=\"DAV:\" xmlns:oc=\"http://owncloud.org/ns\">"
                    + "<prop>\(properties)</prop></propfind>").utf8))
        return request
    }
}

/// Takes a listing apart while it comes.
private final class ListingReceiver: BodyReceiver {
    private let name: String
    private let address: String
    private let show: (XMLElement) throws(StoreError) -> Void
    private let moved: (String) throws(StoreError) -> Void
    private var stream = XMLStream()
    /// Where the server has sent us on to last.
    private var place: String?

    init(
        _ name: String, at address: String,
        _ show: @escaping (XMLElement) throws(StoreError) -> Void,
        moved: @escaping (String) throws(StoreError) -> Void
    ) {
        self.name = name
        self.address = address
        self.show = show
        self.moved = moved
    }

    var isComplete: Bool { stream.isComplete && isListing }

    var notUnderstood: StoreError {
        StoreError(.corrupt, at: address, "the listing of \(name) cannot be understood")
    }

    private var isListing: Bool {
        stream.rootElement?.name == "multistatus" && stream.rootElement?.namespace == "DAV:"
    }

    func accept(_ head: HTTPHead) throws(StoreError) -> Bool {
        guard head.status == 207 else { return false }
        if let place { try moved(place) }
        return true
    }

    func noteRedirect(to url: String) { place = url }

    func take(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        let found: [XMLElement]
        do throws(XMLStream.Problem) { found = try stream.take(bytes) } catch {
            throw notUnderstood
        }
        if found.isEmpty { return }
        guard isListing else { throw notUnderstood }
        for response in found where response.name == "response" { try show(response) }
    }

    func hasEnough(_ head: HTTPHead) -> Bool { false }
}
