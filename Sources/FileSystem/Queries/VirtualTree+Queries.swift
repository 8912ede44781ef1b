internal import Coordination
internal import Glibc
internal import Model
internal import SystemCalls

/// The results of a saved query, as its folder shows them.
struct QueryFolder: Sendable {
    /// What the results follow from: the last change, and how often words were written down.
    var state: (change: ChangeSequence, texts: UInt64)
    var query: Query
    var links: [(String, VirtualNode)]
    /// The links' places by their names.
    var places: [String: Int]
}

/// `.shapeedit/queries`: a folder of symlinks for each saved query.
extension VirtualTree {
    func queryNames() -> [(String, VirtualNode)] {
        volume.savedQueries.map { ($0.name, .query($0.name)) }
    }

    func query(named name: String) throws(Errno) -> VirtualNode {
        guard (try? volume.savedQuery(name)) != nil else { throw Errno(ENOENT) }
        volume.queryWatch?.begin(name)
        return .query(name)
    }

    /// The results as links, in the query's order; ENOENT if it was forgotten.
    ///
    /// - Parameter isContinued: as they were when the listing began.
    func results(of name: String, isContinued: Bool = false) throws(Errno) -> QueryFolder {
        let known = state.withLock { $0.folders[name] }
        if isContinued, let known { return known }
        guard let query = try? volume.savedQuery(name) else {
            state.withLock { $0.folders[name] = nil }
            throw Errno(ENOENT)
        }
        let now = (volume.log.head, volume.texts?.round ?? 0)
        if let known, known.state == now, known.query == query { return known }
        let found: [Found]
        do throws(Errno) { found = try volume.gather(query).0 } catch {
            // The folder it looks into is gone.
            guard error.code == ENOENT else { throw error }
            found = []
        }
        let links = Self.distinct(found.map { (String($0.name), VirtualNode.found($0.path)) })
        let places = Dictionary(
            links.enumerated().map { ($1.0, $0) }, uniquingKeysWith: { first, _ in first })
        let folder = QueryFolder(state: now, query: query, links: links, places: places)
        state.withLock { $0.folders[name] = folder }
        return folder
    }

    func result(_ text: String, of name: String) throws(Errno) -> VirtualNode {
        let folder = try results(of: name)
        guard let place = folder.places[text] else { throw Errno(ENOENT) }
        return folder.links[place].1
    }

    /// rmdir(2): forgets a saved query; EROFS for all other folders.
    func removeDirectory(_ parent: UInt64, _ name: [UInt8], _ caller: Caller) throws(Errno)
        -> [NodeNumber]
    {
        guard case .queries = try node(parent) else { throw Errno(EROFS) }
        let text = String(decoding: name, as: UTF8.self)
        state.withLock { $0.folders[text] = nil }
        do throws(Errno) { return try volume.forgetQuery(text, caller) } catch {
            throw error.code == ENODATA ? Errno(ENOENT) : error
        }
    }

    /// Names that are all different: a number is added to those that are taken.
    static func distinct<Value>(_ list: [(String, Value)]) -> [(String, Value)] {
        var taken: Set<String> = []
        // Where the numbers of a name go on, so that a thousand alike take no million looks.
        var next: [String: Int] = [:]
        return list.map { plain, value in
            var name = plain
            while !taken.insert(name).inserted {
                let number = next[plain, default: 2]
                next[plain] = number + 1
                name = numbered(plain, number)
            }
            return (name, value)
        }
    }

    /// `a.txt` and 2 make `a (2).txt`.
    private static func numbered(_ name: String, _ number: Int) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return "\(name) (\(number))"
        }
        return "\(name[..<dot]) (\(number))\(name[dot...])"
    }
}
