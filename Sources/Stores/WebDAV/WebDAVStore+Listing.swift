package import Model

extension WebDAVStore {
    /// Bytes of one collection's listing: some 100,000 blobs of the 256th part of a store.
    private static let listingLimit = 64 << 20

    package func list(after hash: ContentHash?, limit: Int, _ call: StoreCall) throws(StoreError)
        -> BlobPage
    {
        var page = BlobPage(blobs: [], isLast: true)
        let start = hash?.description ?? ""
        let members = try members(of: path, call)
        guard members.contains(where: { $0.name == "incoming" }) else {
            throw StoreError(
                .unreachable, at: address,
                "this is no content store: there is no collection incoming")
        }
        let folders = members.filter {
            $0.isCollection && $0.name.utf8.count == 2 && $0.name >= start.prefix(2)
        }
        for folder in folders.map(\.name).sorted() {
            let blobs = try self.members(of: path + "/" + folder, call)
                .filter { !$0.isCollection && $0.name > start && $0.name.hasPrefix(folder) }
                .compactMap { member in
                    ContentHash(name: member.name).map { Blob(hash: $0, size: member.size) }
                }
                .sorted { $0.hash.description < $1.hash.description }
            let room = limit - page.blobs.count
            page.blobs += blobs.prefix(room)
            if blobs.count > room {
                page.isLast = false
                break
            }
        }
        return page
    }

    private struct Member {
        var name: String
        var isCollection: Bool
        var size: Int64
    }

    /// What is directly in a collection; empty if it is gone.
    private func members(of path: String, _ call: StoreCall) throws(StoreError) -> [Member] {
        var request = HTTPRequest("PROPFIND", transport.url(path + "/"))
        request.headers = [("Depth", "1"), ("Content-Type", "application/xml")]
        request.body = .bytes(
            Array(
                ("<?xml version=\"1.0\"?><propfind xmlns=\"DAV:\"><prop><resourcetype/>"
                    + "<getcontentlength/></prop></propfind>").utf8))
        request.bodyLimit = Self.listingLimit
        let answer = try transport.send(request, call)
        if answer.head.status == 404 { return [] }
        guard answer.head.status == 207 else { throw transport.answers.error(answer, "listing") }
        guard !answer.isCut, let root = XMLDocument.root(of: answer.body),
            root.name == "multistatus", root.namespace == "DAV:"
        else { throw StoreError(.corrupt, at: address, "the listing cannot be understood") }
        return root.all("response").compactMap { member($0, of: path) }
    }

    private func member(_ response: XMLElement, of path: String) -> Member? {
        guard let name = response.memberName(of: path) else { return nil }
        let found = response.foundProperties
        let isCollection = found.contains {
            $0.name == "resourcetype" && $0.first("collection") != nil
        }
        let size = found.first { $0.name == "getcontentlength" }.flatMap { Int64($0.text) } ?? 0
        return size < 0 ? nil : Member(name: name, isCollection: isCollection, size: size)
    }
}
