internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

/// What somebody edited, kept beside a document that others changed in another way.
package enum ConflictCopy {
    /// Writes the copy and gives its name; in the folder for temporary files, with its path, if
    /// there is no place beside the document.
    ///
    /// - Parameters:
    ///   - isMounted: beside the document is the document's container, and no empty folder where that
    ///     will be mounted again and hide the copy.
    ///   - create: makes a file with these permissions; fails where there is one, so that nothing is
    ///     overwritten.
    package static func keep(
        of path: String, isMounted: Bool = true, _ create: (String, UInt32) throws(Failure) -> Void
    ) throws(Failure) -> String {
        do throws(Failure) {
            guard isMounted else { throw Failure(.temporary, "\(path): it is not mounted") }
            return try keepBeside(path, create)
        } catch {
            let other = (getenv("TMPDIR").map { String(cPath: $0) } ?? "/tmp") + "/"
            // Others use that folder, too.
            let kept = try keep(named: String(path.lastName), in: other) { (copy) throws(Failure) in
                try create(copy, 0o600)
            }
            return other + kept
        }
    }

    /// Writes the copy and gives its name; fails if there is no place beside the document, for one who has
    /// what is to be kept elsewhere, and can try again.
    package static func keepBeside(
        _ path: String, _ create: (String, UInt32) throws(Failure) -> Void
    ) throws(Failure) -> String {
        let name = path.lastName
        let folder = String(path[..<name.startIndex])
        return try keep(named: String(name), in: folder) { (copy) throws(Failure) in
            try create(copy, 0o666)
        }
    }

    private static func keep(
        named name: String, in folder: String, _ create: (String) throws(Failure) -> Void
    ) throws(Failure) -> String {
        // Without what other systems refuse in names.
        let moment = LocalTime.now(as: "%Y-%m-%d %H.%M.%S")
        var number = 1
        while true {
            let more = number == 1 ? "" : ", \(number)"
            let copy = AddedName.adding(" (conflict of \(moment)\(more))", to: name)
            do throws(Failure) {
                try create(folder + copy)
                return copy
            } catch {
                guard access((folder + copy).cPath, F_OK) == 0, number < 100 else { throw error }
            }
            number += 1
        }
    }
}
