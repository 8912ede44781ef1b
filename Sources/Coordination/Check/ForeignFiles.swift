internal import Catalog
package import Content
internal import Glibc
internal import PathText
internal import Pictures
internal import SystemCalls

/// What somebody else has put into a container's folder, or into one of the folders in it.
package enum ForeignFiles {
    /// Where they are below the container's folder. What is in a folder of theirs is not listed.
    package static func paths(in folder: ContainerFolder) -> [String] {
        var found = listing(folder.path).filter { !ContainerFolder.names.contains($0) }
        func add(_ place: String, _ isOurs: (_ name: String) -> Bool) {
            found += listing("\(folder.path)/\(place)").filter { !isOurs($0) }
                .map { "\(place)/\($0)" }
        }
        func addShelves(_ place: String, _ isOurs: (_ shelf: String, _ name: String) -> Bool) {
            let path = "\(folder.path)/\(place)"
            for shelf in listing(path) {
                guard ContainerFolder.isShelf(shelf), kind(of: "\(path)/\(shelf)") == S_IFDIR else {
                    found.append("\(place)/\(shelf)")
                    continue
                }
                add("\(place)/\(shelf)") { name in
                    isOurs(shelf, name) && kind(of: "\(path)/\(shelf)/\(name)") == S_IFREG
                }
            }
        }
        add("journal") { Journal.names.contains($0) }
        add("staging") { ContainerFolder.node(of: $0) != nil }
        add("packs") { ContainerFolder.number(of: $0) != nil }
        add("spare") {
            ContainerFolder.number(of: $0) != nil && kind(of: "\(folder.spare)/\($0)") == S_IFREG
        }
        for place in ["digests", "incoming"] {
            add(place) {
                ContainerFolder.hash(of: $0.replacing(ContainerFolder.mapSuffix, with: "")) != nil
            }
        }
        addShelves("pictures") { shelf, name in
            PictureFolder.node(shelf: shelf, name: name) != nil
                || PictureFolder.isUnfinished(shelf: shelf, name: name)
        }
        addShelves("blobs") { shelf, name in
            ContainerFolder.hash(of: name) != nil && name.hasPrefix(shelf)
        }
        return found
    }

    private static func listing(_ path: String) -> [String] {
        ((try? Directories.names(in: path)) ?? []).sorted()
    }

    /// The file type bits of what is at a path itself; 0 if there is nothing.
    static func kind(of path: String) -> mode_t {
        var status = stat()
        return lstat(path.cPath, &status) == 0 ? status.st_mode & S_IFMT : 0
    }
}
