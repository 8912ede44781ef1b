package import Model

extension WebDAVStore {
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
            let found = try self.members(of: path + "/" + folder, call)
                .filter { !$0.isCollection && $0.name > start && $0.name.hasPrefix(folder) }
                .compactMap { member in
                    ContentHash(name: member.name).map { (hash: $0, size: member.size) }
                }
                .sorted { $0.hash.description < $1.hash.description }
            for (hash, told) in found {
                guard page.blobs.count < limit else {
                    page.isLast = false
                    return page
                }
                var size = told
                // Not every server tells it in a listing. It may have gone since.
                if size == nil { size = try stat(hash, call) }
                guard let size else { continue }
                page.blobs.append(Blob(hash: hash, size: size))
            }
        }
        return page
    }

    package func sweep(
        _ isAbandoned: (Remnant) throws(StoreError) -> Bool, _ call: StoreCall
    ) throws(StoreError) {
        for member in try members(of: path + "/incoming", call) where !member.isCollection {
            // A hash, for something made of it the kind, and a serial number.
            guard let hash = ContentHash(name: member.name.prefix(64)) else { continue }
            let remnant = Remnant(hash: hash, name: member.name, isResumable: false)
            guard try isAbandoned(remnant) else { continue }
            let address = transport.url("\(path)/incoming/\(member.name)")
            _ = try transport.send(HTTPRequest("DELETE", address), call)
        }
    }

    private struct Member {
        var name: String
        var isCollection: Bool
        /// `nil` if it is not told.
        var size: Int64?
    }

    /// What is directly in a collection; empty if it is gone.
    private func members(of path: String, _ call: StoreCall) throws(StoreError) -> [Member] {
        var found: [Member] = []
        do throws(StoreError) {
            try transport.list(
                Array(path.utf8), "<resourcetype/><getcontentlength/>", naming: "the store", call
            ) { (response, subject) throws(StoreError) in
                if let member = member(response, subject) { found.append(member) }
            }
        } catch {
            if error.kind == .absent { return [] }
            throw error
        }
        return found
    }

    private func member(_ response: XMLElement, _ subject: XMLElement.Subject) -> Member? {
        guard case .member(let bytes) = subject, let name = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let found = response.foundProperties
        let size = Int64(found.text("getcontentlength")).flatMap { $0 < 0 ? nil : $0 }
        return Member(name: name, isCollection: found.isCollection, size: size)
    }
}
