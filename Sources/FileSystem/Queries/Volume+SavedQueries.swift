internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Queries that have a name. They are attributes of the root: they last like those, and need nothing
/// of their own.
extension Volume {
    /// What the names of the attributes begin with, behind ``ownPrefix``.
    static let queryPrefix = "query."
    private static let root = NodeNumber(.root, 0)

    private static func attribute(of query: String) -> [UInt8] {
        ownPrefix + (queryPrefix + query).pathBytes
    }

    /// All of them, by name.
    var savedQueries: [(name: String, query: Query)] {
        let prefix = Self.attribute(of: "")
        return state.withLock { state in
            (state.index.attributes[state.index.find(.root)] ?? [:]).compactMap { name, value in
                guard name.starts(with: prefix),
                    let query = Query(String(path: value))
                else { return nil }
                return (String(path: name.dropFirst(prefix.count)), query)
            }
            .sorted { $0.0 < $1.0 }
        }
    }

    /// The query of a name; ENODATA if there is none.
    func savedQuery(_ name: String) throws(Errno) -> Query {
        let value = state.withLock { state in
            state.index.attributes[state.index.find(.root)]?[Self.attribute(of: name)]
        }
        guard let value, let query = Query(String(path: value)) else {
            throw Errno(ENODATA)
        }
        return query
    }

    /// Gives a query a name. EINVAL for a name that no folder can have, and for what is no query.
    func saveQuery(
        _ node: NodeNumber, _ name: String, _ text: String, flags: Int32, _ caller: Caller
    ) throws(Errno) -> [NodeNumber] {
        if node.item != .root { throw Errno(EPERM) }
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            let query = Query(text)
        else { throw Errno(EINVAL) }
        let value = Array(query.description.utf8)
        let isNew = (try? savedQuery(name)) == nil
        let nodes = try keep(node, Self.attribute(of: name), value, flags: flags, caller)
        queryFolders?.changed(name, query)
        if isNew { queryFolders?.announce(name, isGone: false) }
        return nodes
    }

    /// Forgets a query; ENODATA if there is none of that name.
    ///
    /// - Parameter isTold: the kernel tells by itself that its folder went.
    func forgetQuery(_ name: String, isTold: Bool, _ caller: Caller) throws(Errno) -> [NodeNumber] {
        let nodes = try letGo(Self.root, Self.attribute(of: name), caller)
        queryFolders?.changed(name, nil)
        pictures?.desktop?.left(folder: QueryEntry.folder(PathKey(name)).pathBytes)
        if !isTold { queryFolders?.announce(name, isGone: true) }
        return nodes
    }
}
