package import Catalog
package import Model

/// The bookmarks of an open container. Guarded by its owner.
package struct Bookmarks: Sendable {
    /// Why a token leads nowhere.
    package enum Problem: Error, Hashable {
        /// The text is no token.
        case malformed
        /// It was not made by this container, or was changed.
        case forged
        /// It was made for another application.
        case otherApplication
        case revoked
        /// The document was deleted.
        case deleted
    }

    /// Tells the container from every other, also from one that had its name before. It comes of the
    /// key and does not tell it.
    package let containerID: String

    private let key: [UInt8]
    private var rows: [BookmarkID: BookmarkRow] = [:]
    private var ofDocument: [DocumentID: [BookmarkID]] = [:]

    /// - Parameter key: the container's; 32 bytes.
    init(_ rows: [BookmarkRow], key: [UInt8]) {
        self.key = key
        containerID = BookmarkKey.containerID(key)
        for row in rows { insert(row) }
    }

    package mutating func insert(_ row: BookmarkRow) {
        if rows.updateValue(row, forKey: row.id) == nil {
            ofDocument[row.document, default: []].append(row.id)
        }
    }

    package mutating func remove(_ id: BookmarkID) {
        guard let row = rows.removeValue(forKey: id) else { return }
        ofDocument[row.document]?.removeAll { $0 == id }
        if ofDocument[row.document]?.isEmpty == true { ofDocument[row.document] = nil }
    }

    /// All of them, those of a document together.
    package var all: [BookmarkRow] {
        rows.values.sorted {
            ($0.document.rawValue, $0.application) < ($1.document.rawValue, $1.application)
        }
    }

    package func bookmarks(of document: DocumentID) -> [BookmarkRow] {
        (ofDocument[document] ?? []).compactMap { rows[$0] }
    }

    package func bookmark(of document: DocumentID, for application: String) -> BookmarkRow? {
        bookmarks(of: document).first { $0.application == application }
    }

    package func row(_ id: BookmarkID) -> BookmarkRow? { rows[id] }

    /// The bookmark's token as of now; `nil` if the document has no name.
    package func token(_ row: BookmarkRow, in index: MemoryIndex) -> BookmarkToken? {
        let position = index.holder(of: row.document)
        guard position != 0, let path = index.path(of: position) else { return nil }
        return BookmarkToken(row, path: path, key: key)
    }

    /// The bookmark of a token's digits, and where its document is.
    ///
    /// - Parameter application: who asks; empty: nobody in particular; `nil`: the container's owner, for
    ///   whom all are.
    package func resolve(
        _ text: some StringProtocol, for application: (some StringProtocol)?, in index: MemoryIndex
    ) throws(Problem) -> (row: BookmarkRow, path: [UInt8], isStale: Bool) {
        guard let token = BookmarkToken(text) else { throw .malformed }
        guard token.isSigned(with: key) else { throw .forged }
        let position = index.holder(of: token.document)
        let path = position == 0 ? nil : index.path(of: position)
        guard let row = rows[token.id] else { throw path == nil ? .deleted : .revoked }
        if let application, row.application != application { throw .otherApplication }
        guard let path else { throw .deleted }
        return (row, path, token.isStale(at: path))
    }
}
