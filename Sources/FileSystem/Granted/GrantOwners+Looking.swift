internal import Glibc
internal import Model
internal import Pictures
internal import SystemCalls

/// Which version of a document there is.
extension GrantOwners {
    /// A version of a document, or its picture, as it was found.
    final class Look: Sendable {
        /// Holds on to the version, but opens nothing.
        let node: OwnedDescriptor
        /// Tells its content from any other that the document had or will have.
        let content: String
        let status: stat
        /// What is granted of a document, as ``GrantTerms`` has it.
        let terms: [UInt8]

        /// - Parameter attribute: the one that has the terms.
        fileprivate init(_ path: String, _ attribute: String) throws(Errno) {
            // All of one version, whatever the path leads to meanwhile.
            let node = try OwnedDescriptor.open(path, OwnedDescriptor.pathOnly)
            let place = Self.path(node)
            let status = try node.status()
            content = GrantOwners.content(
                status, try PathAttributes.value(GrantOwners.versionAttribute, of: place))
            terms = try PathAttributes.value(attribute, of: place)
            self.status = status
            self.node = node
        }

        /// That of a picture, which the owner's mount has a node for.
        fileprivate init(picture path: String) throws(Errno) {
            node = try OwnedDescriptor.open(path, OwnedDescriptor.pathOnly)
            status = try node.status()
            content = String(status.st_ino)
            terms = []
        }

        /// Where the version can be opened.
        var path: String { Self.path(node) }

        private static func path(_ node: borrowing OwnedDescriptor) -> String {
            "/proc/self/fd/\(node.number)"
        }
    }

    fileprivate static let versionAttribute = "user.shapeedit.version"

    /// The current version of a document.
    func look(_ document: DocumentID, of owner: String) throws(Errno) -> Look {
        let name = attribute(of: document)
        return try on(document, of: owner, shared: false) { (path) throws(Errno) in
            try Look(path, name)
        }
    }

    /// The picture of the current version of a document.
    func look(_ size: PictureSize, of document: DocumentID, of owner: String) throws(Errno) -> Look
    {
        try on(VirtualTree.pictureName(document, size), of: owner) { (path) throws(Errno) in
            try Look(picture: path)
        }
    }

    /// Tells the current content of a document from any other that it had or will have.
    func content(_ document: DocumentID, of owner: String) throws(Errno) -> String {
        try look(document, of: owner).content
    }

    /// The same of an open document.
    static func content(of file: borrowing OwnedDescriptor) throws(Errno) -> String {
        content(try file.status(), try file.value(ofAttribute: versionAttribute))
    }

    private static func content(_ status: stat, _ version: [UInt8]) -> String {
        "\(status.st_ino) \(String(decoding: version, as: UTF8.self))"
    }
}
