internal import Glibc
internal import Model
internal import PathText
internal import Pictures
internal import SystemCalls

/// `.shapeedit/grants`, which tells people what is granted to whom, and
/// `.shapeedit/granted/<this container>/<application>`, by which mounts of applications come to
/// documents that were granted to them. Its names are document ids: the current version, whoever asks;
/// with ``sharedSuffix``, what the document's writers see; as ``pictureName(_:_:)`` has it, its picture.
extension VirtualTree {
    /// Behind a document's id: as its writers see it.
    static let sharedSuffix = ".shared"
    /// The file that lists an application's documents.
    static let namesFile = "names"
    /// The folder in which a query by its name finds an application's documents (``GrantedAnswer``).
    static let findFolder = "find"
    /// The application's bell (``GrantBells``).
    static let bellFile = "bell"
    /// What an application's folder has as attribute: another text as soon as another list would be in
    /// the ``namesFile``.
    static let stampAttribute = "user.shapeedit.granted"
    /// What that text stands behind at the start of the list.
    static let stampMark = "stamp "

    /// What a document's picture is called among an application's documents.
    static func pictureName(_ document: DocumentID, _ size: PictureSize) -> String {
        "\(document).\(size.pixels).png"
    }

    /// A line of JSON for each grant that holds, by document and application.
    func grantLines() -> [UInt8] {
        let lines = volume.grantedDocuments().map { row, path in
            let until = row.terms.until.map { PathText.quoted($0.exactText) } ?? "null"
            var members = [("document", PathText.quoted(row.document.description))]
            members += PathText.members("path", String(path: path))
            members += [
                ("app", PathText.quoted(row.application)),
                ("access", PathText.quoted(row.terms.access.text)),
                ("granted", PathText.quoted(row.granted.exactText)), ("until", until),
            ]
            return PathText.object(members) + "\n"
        }
        return Array(lines.joined().utf8)
    }

    /// The list's stamp and a NUL; then the application's documents, each as its id, a space, `read` or
    /// `write`, a space, a name that no other of them has, and a NUL.
    func grantedNames(to application: String) -> [UInt8] {
        let (documents, stamp) = volume.grantedList(to: application)
        return Array("\(Self.stampMark)\(stamp)\0".utf8)
            + documents.flatMap { name, row in
                "\(row.document) \(row.terms.access.text) \(name)\0".pathBytes
            }
    }

    /// What stands in a folder of `.shapeedit/granted`, but for the documents.
    func granted(_ text: String, in node: VirtualNode) throws(Errno) -> VirtualNode {
        switch node {
        case .granted where text == volume.container.name: return .grantedHere
        case .grantedHere where ContainerName.isValid(text): return .grantedTo(text)
        case .grantedTo(let application) where text == Self.namesFile:
            return .grantedNames(application)
        case .grantedTo(let application) where text == Self.findFolder:
            return .grantedFind(application)
        case .grantedTo(let application) where text == Self.bellFile:
            let number = volume.state.withLock { $0.bells.hang(for: application) }
            return .grantedBell(application, number)
        case .grantedFind(let application):
            guard let query = Query(text) else { throw Errno(ENOENT) }
            return .grantedFindings(application, query)
        default: throw Errno(ENOENT)
        }
    }

    /// Has the kernel delete a bell: who watches it is told. Only on the name notifier's thread.
    func announce(bellOf application: String, _ number: UInt64) {
        guard let parent = known(.grantedTo(application)),
            let bell = known(.grantedBell(application, number))
        else { return }
        volume.channel?.announceDeletion(
            parent: parent, node: bell, name: Array(Self.bellFile.utf8))
    }

    /// The document that a name leads to; `nil` for a name that is no document's.
    func grantedDocument(_ parent: UInt64, _ name: [UInt8]) throws(Errno)
        -> (document: DocumentID, application: String, shared: Bool)?
    {
        guard case .grantedTo(let application) = try node(parent) else { return nil }
        var text = String(path: name)[...]
        let shared = text.hasSuffix(Self.sharedSuffix)
        if shared { text = text.dropLast(Self.sharedSuffix.count) }
        return DocumentID(text).map { ($0, application, shared) }
    }

    /// The document and the size of the picture that a name leads to; `nil` for a name that is no
    /// picture's.
    func grantedPicture(_ parent: UInt64, _ name: [UInt8]) throws(Errno)
        -> (document: DocumentID, application: String, size: PictureSize)?
    {
        guard case .grantedTo(let application) = try node(parent),
            let stem = Self.document(ofPicture: name)
        else { return nil }
        let parts = String(path: stem).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let document = DocumentID(parts[0]),
            let size = PictureSize(folderName: parts[1])
        else { return nil }
        return (document, application, size)
    }
}

extension FuseSession {
    /// Looks a document up that was granted to an application, or its picture; says whether the name
    /// is one's.
    func lookupGranted(_ request: Request, _ parent: UInt64, _ name: [UInt8]) throws(Errno)
        -> Bool
    {
        if let (document, application, size) = try virtual.grantedPicture(parent, name) {
            try lookupGrantedPicture(request, document, application, size)
            return true
        }
        guard let (document, application, shared) = try virtual.grantedDocument(parent, name) else {
            return false
        }
        let look: @Sendable (Bool) throws(Errno) -> Answer<Entry> = {
            [volume] (waited) throws(Errno) in
            try volume.lookupGranted(
                document, for: application, shared: shared, request.caller, waited: waited)
        }
        try whenClosed(request, look) { request.answer($0) }
        return true
    }

    /// It may be waited for, parked, as a picture below `thumbnails` is.
    private func lookupGrantedPicture(
        _ request: Request, _ document: DocumentID, _ application: String, _ size: PictureSize
    ) throws(Errno) {
        let look: @Sendable (Bool) throws(Errno) -> Answer<PictureSubject> = {
            [volume] (waited) throws(Errno) in
            try volume.grantedSubject(document, for: application, waited: waited)
        }
        try whenClosed(request, look) { [self] (subject) throws(Errno) in
            guard let pictures = volume.pictures else { throw Errno(ENOENT) }
            pictures.whenDrawn(subject, size) { [self] in
                do throws(Errno) {
                    // Meanwhile it may have been revoked, or have another version.
                    guard case .done(let current) = try look(true) else { return }
                    let picture = try virtual.picture(of: current, size)
                    var entry = try virtual.entry(picture, counted: true)
                    // The next version's picture is another node, and the grant may go.
                    entry.timeout = 0
                    request.answer(entry)
                } catch {
                    request.fail(error)
                }
            }
        }
    }

    /// Calls `then` with what `look` finds when no session is closing that it waits for, parked. The
    /// request is failed with what is thrown.
    private func whenClosed<Value: Sendable>(
        _ request: Request,
        _ look: @escaping @Sendable (_ waited: Bool) throws(Errno) -> Answer<Value>,
        then: @escaping @Sendable (Value) throws(Errno) -> Void
    ) throws(Errno) {
        switch try look(false) {
        case .done(let value): try then(value)
        case .wait(let item):
            volume.afterClosing(item) {
                do throws(Errno) {
                    if case .done(let value) = try look(true) { try then(value) }
                } catch {
                    request.fail(error)
                }
            }
        }
    }
}
