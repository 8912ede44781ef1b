internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// `.shapeedit/queries`: a folder of symlinks for each saved query.
extension VirtualTree {
    func queryNames() -> [(String, VirtualNode)] {
        volume.savedQueries.map { ($0.name, .query(PathKey($0.name))) }
    }

    /// The query whose folder is looked up; `nil` for anything else.
    func savedQuery(_ parent: UInt64, _ name: [UInt8]) -> Query? {
        guard case .queries? = try? node(parent) else { return nil }
        return try? volume.savedQuery(String(path: name))
    }

    func query(named name: String) throws(Errno) -> VirtualNode {
        guard let query = try? volume.savedQuery(name) else { throw Errno(ENOENT) }
        volume.queryFolders?.begin(name, query)
        return .query(PathKey(name))
    }

    /// The results as links, in the query's order; ENOENT if it was forgotten.
    func results(of name: String) throws(Errno) -> QueryFolder {
        guard let query = try? volume.savedQuery(name) else {
            state.withLock { $0.listings[.query(PathKey(name))] = nil }
            throw Errno(ENOENT)
        }
        guard let folder = volume.queryFolders?.folder(name, query) else { throw Errno(EMFILE) }
        return folder
    }

    func result(_ text: String, of name: String) throws(Errno) -> VirtualNode {
        guard let node = try results(of: name).node(text) else { throw Errno(ENOENT) }
        return node
    }

    /// The saved queries whose folders the kernel knows.
    func knownQueries() -> Set<PathKey> {
        state.withLock { state in
            Set(
                state.nodes.nodes.compactMap { node in
                    if case .query(let name) = node { name } else { nil }
                })
        }
    }

    /// rmdir(2): forgets a saved query; EROFS for all other folders.
    func removeDirectory(_ parent: UInt64, _ name: [UInt8], _ caller: Caller) throws(Errno)
        -> [NodeNumber]
    {
        guard case .queries = try node(parent) else { throw Errno(EROFS) }
        let text = String(path: name)
        state.withLock { $0.listings[.query(PathKey(text))] = nil }
        do throws(Errno) { return try volume.forgetQuery(text, isTold: true, caller) } catch {
            throw error.code == ENODATA ? Errno(ENOENT) : error
        }
    }

    /// Names that are all different, by their bytes: a number is added to those that are taken.
    static func distinct<Value>(_ list: [(String, Value)]) -> [(String, Value)] {
        var names = DistinctNames()
        return list.map { (names.take($0), $1) }
    }
}

/// Gives out names that are all different, by their bytes.
struct DistinctNames {
    private var taken: Set<PathKey> = []
    /// Where the numbers of a name go on, so that a thousand alike take no million looks.
    private var next: [PathKey: Int] = [:]
    /// Names that were wanted more than once, and those with numbers: with others in the list they would be
    /// others.
    private(set) var contested: Set<PathKey> = []

    /// The name, with a number if it is taken.
    mutating func take(_ plain: String) -> String {
        var name = plain
        while !taken.insert(PathKey(name)).inserted {
            contested.insert(PathKey(name))
            let number = next[PathKey(plain), default: 2]
            next[PathKey(plain)] = number + 1
            name = AddedName.numbered(plain, number)
        }
        if name != plain { contested.insert(PathKey(name)) }
        return name
    }
}
