internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// `.shapeedit/grants`, which tells people what is granted to whom, and
/// `.shapeedit/granted/<this container>/<application>`, by which mounts of applications come to
/// documents that were granted to them. Its names are document ids: the current version, whoever asks;
/// with ``sharedSuffix``, what the document's writers see.
extension VirtualTree {
    /// Behind a document's id: as its writers see it.
    static let sharedSuffix = ".shared"
    /// The file that lists an application's documents.
    static let namesFile = "names"
    /// The folder in which a query by its name finds an application's documents (``GrantedAnswer``).
    static let findFolder = "find"
    /// The application's bell (``GrantBells``).
    static let bellFile = "bell"

    /// A line of JSON for each grant that holds, by document and application.
    func grantLines() -> [UInt8] {
        let lines = volume.grantedDocuments().map { row, path in
            let until = row.terms.until.map { quoted($0.exactText) } ?? "null"
            var members = [("document", quoted(row.document.description))]
            members += PathText.members("path", String(path: path), quoted)
            members += [
                ("app", quoted(row.application)), ("access", quoted(row.terms.access.text)),
                ("granted", quoted(row.granted.exactText)), ("until", until),
            ]
            return quotedObject(members) + "\n"
        }
        return Array(lines.joined().utf8)
    }

    /// The application's documents, each as its id, a space, `read` or `write`, a space, a name that no
    /// other of them has, and a NUL.
    func grantedNames(to application: String) -> [UInt8] {
        volume.grantedDocuments(to: application).flatMap { name, row in
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
}

extension FuseSession {
    /// Looks a document up that was granted to an application; says whether the name is one's.
    func lookupGranted(_ request: Request, _ parent: UInt64, _ name: [UInt8]) throws(Errno)
        -> Bool
    {
        guard let (document, application, shared) = try virtual.grantedDocument(parent, name) else {
            return false
        }
        let look: @Sendable (Bool) throws(Errno) -> Answer<Entry> = {
            [volume] (waited) throws(Errno) in
            try volume.lookupGranted(
                document, for: application, shared: shared, request.caller, waited: waited)
        }
        switch try look(false) {
        case .done(let entry): request.answer(entry)
        case .wait(let item):
            volume.afterClosing(item) {
                do throws(Errno) {
                    if case .done(let entry) = try look(true) { request.answer(entry) }
                } catch {
                    request.fail(error)
                }
            }
        }
        return true
    }
}
