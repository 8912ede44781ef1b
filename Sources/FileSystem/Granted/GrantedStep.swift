internal import Catalog
internal import Model
internal import PathText

/// A change of what another container grants to the app, to be repeated on the app's mount so that those
/// who watch it are told.
struct GrantedStep: Sendable {
    enum Kind: Equatable, Sendable {
        case made
        /// The document has another content.
        case written
        /// The document has other times.
        case touched
        case removed
        /// The document has another path.
        case moved(to: String)
    }

    var kind: Kind
    var owner: String
    /// `nil`: it is about the owner's folder.
    var document: DocumentID?
    /// From the root of the mount.
    var path: String
    /// Bytes, after the change.
    var size: Int64 = 0

    /// The system call that tells of it.
    var call: ReplayCall {
        let place = path.pathBytes
        switch kind {
        case .made: return document == nil ? .folder(place) : .name(place)
        case .written: return .change(place, size: size)
        case .touched: return .touch(place)
        case .removed: return .unlink(place)
        case .moved(let target): return .rename(place, to: target.pathBytes)
        }
    }

    /// What is at a name in the folder, or (for the owner's folder) at the root, for the process that
    /// makes the call.
    enum Sight {
        /// As for everybody.
        case ordinary
        /// Nothing: it was not there before the change.
        case absent
        /// What is there now.
        case current
        /// What was there before the change.
        case former
    }

    func sight(of name: String) -> Sight {
        if case .moved(let target) = kind, PathKey(Self.name(target)) == PathKey(name) {
            return .absent
        }
        guard PathKey(Self.name(path)) == PathKey(name) else { return .ordinary }
        switch kind {
        case .made: return .absent
        case .written, .touched: return .current
        case .removed, .moved: return .former
        }
    }

    /// Whether a name at the root is the folder that the document is in.
    func isFolder(_ name: String) -> Bool { PathKey(path.parentPath) == PathKey(name) }

    private static func name(_ path: String) -> String { String(path.lastName) }
}
