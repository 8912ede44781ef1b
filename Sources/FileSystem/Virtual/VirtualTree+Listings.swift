internal import PathText
internal import SystemCalls

/// What a listing of a virtual folder began with.
struct VirtualListing: Sendable {
    /// Listings of a folder that can go on; those that began before go on with what is there now.
    static let most = 4
    /// Of an offset, behind the listing's number.
    static let bits: UInt64 = 32
    static let largest: UInt64 = 1 << 30

    /// From 1 on: offset 0 begins another one.
    let serial: UInt64
    let entries: [(String, VirtualNode?)]

    /// What all its offsets begin with.
    var start: UInt64 { serial << Self.bits }
    /// The place that an offset stands for, its own or that of a listing that is not known any more.
    func place(of offset: UInt64) -> UInt64 { offset & (1 << Self.bits - 1) }
}

/// Folders in which much comes and goes: results of queries, bookmarks, recent documents, conflicts,
/// versions.
extension VirtualTree {
    /// What a listing that is at an offset shows. It goes on with what it began with, whatever comes and
    /// goes, and whoever looks or lists there meanwhile: what stays is shown once.
    func listing(of directory: VirtualNode, at offset: UInt64) throws(Errno) -> VirtualListing {
        let serial = offset >> VirtualListing.bits
        let known = state.withLock { $0.listings[directory]?.first { $0.serial == serial } }
        if let known { return known }
        var entries: [(String, VirtualNode?)] = []
        switch directory {
        case .bookmarks: entries += bookmarkNames()
        case .recents: entries += recents()
        case .queries: entries += queryNames()
        case .query(let query): entries += try results(of: query.text).links
        case .conflicts: entries += conflicts()
        case .history(let document, in: _):
            entries += try versions(of: document).map { ($0.0, .version($0.1.item, $0.1.ordinal)) }
        default: break
        }
        let begun = entries
        return state.withLock { state in
            // The numbers begin anew before offsets are those of more names.
            state.lastListing = state.lastListing % VirtualListing.largest + 1
            let made = VirtualListing(serial: state.lastListing, entries: begun)
            let others = state.listings[directory] ?? []
            state.listings[directory] = Array(others.suffix(VirtualListing.most - 1)) + [made]
            return made
        }
    }

    /// Calls `then` when a folder may be listed: file managers find pictures of the promises that links in it
    /// lead to.
    func whenPictured(_ directory: VirtualNode, then: @escaping @Sendable () -> Void) {
        guard volume.hasPicturedPromises else { return then() }
        switch directory {
        case .recents: whenPictured(recents(), in: ".shapeedit/recents", then: then)
        case .query(let name):
            // The results may have to be waited for, which not every thread may that comes here.
            Threads.start("links") { [self] in
                let links = (try? results(of: name.text).links) ?? []
                whenPictured(links, in: QueryEntry.folder(name), then: then)
            }
        default: then()
        }
    }

    private func whenPictured(
        _ entries: [(String, VirtualNode)], in folder: String, then: @escaping @Sendable () -> Void
    ) {
        let links = entries.prefix(LinkedPaths.mostOfFolder).compactMap {
            name, node -> (name: [UInt8], target: [UInt8])? in
            switch node {
            case .found(let path): (name.pathBytes, path.text.pathBytes)
            case .recent(_, let path, _): (name.pathBytes, path)
            default: nil
            }
        }
        volume.whenPictured(links: links, in: folder.pathBytes, then: then)
    }

    /// Lets go of what a listing began with: nobody goes on with it.
    func forget(_ listing: VirtualListing, of directory: VirtualNode) {
        state.withLock { state in
            let others = state.listings[directory]?.filter { $0.serial != listing.serial }
            state.listings[directory] = others?.isEmpty == true ? nil : others
        }
    }
}
