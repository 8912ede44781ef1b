internal import Glibc
internal import Model
internal import SystemCalls

/// `.shapeedit/recents`: symlinks to the documents that were opened last, the last one first.
extension VirtualTree {
    /// The links with their names: the document's, with a number where several are called alike.
    func recents() -> [(String, VirtualNode)] {
        var taken: Set<String> = []
        return volume.recentDocuments().map { entry in
            let bytes = entry.path.split(separator: UInt8(ascii: "/")).last ?? []
            let plain = String(decoding: bytes, as: UTF8.self)
            var name = plain
            var number = 2
            while !taken.insert(name).inserted {
                name = Self.numbered(plain, number)
                number += 1
            }
            return (
                name, .recent(entry.document, path: entry.path, opened: entry.opened)
            )
        }
    }

    /// `a.txt` and 2 make `a (2).txt`.
    private static func numbered(_ name: String, _ number: Int) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return "\(name) (\(number))"
        }
        return "\(name[..<dot]) (\(number))\(name[dot...])"
    }

    func recent(named name: String) throws(Errno) -> VirtualNode {
        guard let found = recents().first(where: { $0.0 == name }) else { throw Errno(ENOENT) }
        return found.1
    }
}
