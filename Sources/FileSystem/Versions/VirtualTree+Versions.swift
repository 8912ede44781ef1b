internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What versions and saved queries tell about themselves, and pictures and applications' folders about
/// grants.
extension VirtualTree {
    private static let queryAttribute = Volume.ownPrefix + Array("query".utf8)

    /// An extended attribute; ENODATA if the node has none of that name.
    func attribute(_ number: UInt64, _ name: [UInt8]) throws(Errno) -> [UInt8] {
        if case .query(let query) = try node(number), name.elementsEqual(Self.queryAttribute) {
            return Array(try volume.savedQuery(query.text).description.utf8)
        }
        if case .grantedTo(let application) = try node(number),
            name.elementsEqual(Self.stampAttribute.utf8)
        {
            return Array(volume.grantsStamp(for: application).utf8)
        }
        if case .picture = try node(number), name.starts(with: Volume.ownPrefix) {
            // Asked of the picture that an app has open, as of a document.
            let key = String(decoding: name.dropFirst(Volume.ownPrefix.count), as: UTF8.self)
            guard let terms = try volume.grantedAttribute(key) else { throw Errno(ENODATA) }
            return Array(terms.utf8)
        }
        guard case .version(let item, let ordinal) = try node(number),
            name.starts(with: Volume.ownPrefix)
        else { throw Errno(ENODATA) }
        let version = try row(item, ordinal)
        let key = String(decoding: name.dropFirst(Volume.ownPrefix.count), as: UTF8.self)
        return Array(try text(key, of: version).utf8)
    }

    private func text(_ key: String, of version: VersionRow) throws(Errno) -> String {
        switch key {
        case "version": return version.node.versionName
        case "id": return version.document.description
        case "published":
            let digits = String(version.published.nanoseconds)
            return "\(version.published.seconds)."
                + String(repeating: "0", count: 9 - digits.utf8.count) + digits
        case "author": return String(version.author)
        case "state": return volume.missing(version) == nil ? "local" : "promise"
        default:
            guard let mark = VersionMark(rawValue: key) else { throw Errno(ENODATA) }
            return volume.state.withLock { mark.word($0.marks.has(mark, version.node)) }
        }
    }
}
