internal import Glibc
internal import Model
internal import SystemCalls

/// Queries among what owners grant.
extension GrantOwners {
    /// What a query finds of what the owner grants; EIO if it is not mounted or its mount is dead.
    func find(_ query: Query, of owner: String) throws(Errno) -> GrantedAnswer {
        do throws(Errno) {
            let file = try place(of: owner) + "/\(VirtualTree.findFolder)/" + query.description
            let bytes = try WholeFile.read(try OwnedDescriptor.open(file, O_RDONLY), limit: 1 << 30)
            guard let answer = GrantedAnswer(bytes) else { throw Errno(EIO) }
            return answer
        } catch { throw error.code == ENOENT ? Errno(EIO) : Self.answer(error) }
    }

    /// The file that the owner's kernel deletes when something is another about what it grants.
    func bell(of owner: String) throws(Errno) -> String {
        try place(of: owner) + "/" + VirtualTree.bellFile
    }
}

extension Query {
    /// What owners are asked for it: where their documents are shown, and in which order, they do
    /// not know.
    var amongGranted: Query {
        var query = self
        query.folder = ""
        if order != .title { query.order = .path }
        query.isReversed = false
        query.limit = nil
        return query
    }
}
