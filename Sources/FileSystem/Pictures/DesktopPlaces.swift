package import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls
internal import Thumbnailing

/// Where a container was mounted while the desktop's cache was kept for it, so that entries of its documents
/// may be in there by those paths: what is changed and removed in a mount at another place, or without the
/// cache being kept, does not tell of them.
///
/// In the container's folder: the paths, each ended by a NUL.
package struct DesktopPlaces: Sendable {
    private static let limit = 1 << 20
    /// Stands for what a mount did not see to.
    private static let remnant = ""

    private let file: String

    package init(_ folder: ContainerFolder) { file = folder.desktopPlaces }

    /// The paths, and ``remnant`` if entries below them may be wrong.
    private var known: Set<String> {
        guard let descriptor = try? OwnedDescriptor.open(file, O_RDONLY | O_NONBLOCK),
            let bytes = try? WholeFile.read(descriptor, limit: Self.limit)
        else { return [] }
        return Set(
            bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(path: $0) })
    }

    private func write(_ places: Set<String>) {
        var bytes: [UInt8] = []
        for place in places.sorted() { bytes += place.pathBytes + [0] }
        guard
            let made = try? OwnedDescriptor.openOwn(file + ".new", O_WRONLY | O_TRUNC),
            (try? made.write(bytes, at: 0)) != nil
        else { return }
        rename((file + ".new").cPath, file.cPath)
    }

    /// A mount begins whose entries are kept; the places where entries are to be looked for that are wrong, if
    /// there may be any.
    func begin(at places: [String], isRecovered: Bool) -> Set<String>? {
        let (known, now) = (known, Set(places))
        if known == now, !isRecovered { return nil }
        let isNew = known.isEmpty && !isRecovered
        write(isNew ? now : known.union(now).union([Self.remnant]))
        return isNew ? nil : known.union(now).subtracting([Self.remnant])
    }

    /// They have been looked for.
    func settle(at places: [String]) { write(Set(places)) }

    /// A mount has not seen to all that it should, or does not keep the entries.
    func leaveRemnant() {
        let known = known
        if !known.isEmpty, !known.contains(Self.remnant) { write(known.union([Self.remnant])) }
    }

    /// Removes from the cache what shows documents of a container that is gone; to be made before it goes.
    package func removal(ofContainer name: String) -> () -> Void {
        let places = known.subtracting([Self.remnant]).map { ($0 + "/").pathBytes }
        guard !places.isEmpty, let cache = DesktopCache.ofUser else { return {} }
        return {
            cache.search(forVersionsWith: name + "/") { path in
                guard places.contains(where: { path.starts(with: $0) }) else { return }
                _ = try? cache.remove(path: String(path: path))
            }
        }
    }
}
