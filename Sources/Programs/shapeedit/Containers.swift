import ArgumentParser
import Content
import Coordination
import DocumentKit
import Glibc
import Model
import PathText
import Stores
import SystemCalls

/// The user's containers: folders below `$XDG_DATA_HOME/shapeedit/containers`.
enum Containers {
    static let defaultName = "default"

    /// Words that are commands, or will be: `shapeedit NAME DIR` must not become one of them.
    static let reserved = Set(
        ShapeEdit.configuration.subcommands.compactMap { $0.configuration.commandName }
    )
    .union([
        "help", "umount", "edit", "find", "bookmark", "evict", "pin", "unpin", "materialize",
        "cancel", "import",
    ])

    /// Where all containers lie.
    static func home() throws(Failure) -> String {
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            // What sudo took along from the one who called it.
            let caller = environment("SUDO_UID").flatMap { uid_t($0) }
            try refuseToServe("XDG_DATA_HOME", data) { $0 == caller }
            return data + "/shapeedit/containers"
        }
        var home = environment("HOME")
        if home == nil, let entry = getpwuid(getuid()) {
            home = String(cPath: entry.pointee.pw_dir)
        }
        guard let home, home.hasPrefix("/") else {
            let other = home.map { " (HOME is \($0), which does not begin with /)" } ?? ""
            throw Failure(
                .configuration, "neither XDG_DATA_HOME nor HOME says where data belongs\(other)")
        }
        try refuseToServe("HOME", home) { _ in true }
        return home + "/.local/share/shapeedit/containers"
    }

    /// Root working in somebody else's home would leave files there that its owner cannot use.
    private static func refuseToServe(
        _ variable: String, _ folder: String, _ isForeign: (uid_t) -> Bool
    ) throws(Failure) {
        var status = stat()
        guard geteuid() == 0, stat(folder.cPath, &status) == 0, status.st_uid != 0,
            isForeign(status.st_uid)
        else { return }
        let owner = ContainerFolder.userName(status.st_uid)
        throw Failure(
            .configuration,
            "\(variable) is \(folder), which belongs to \(owner), but this is root: "
                + "`sudo -u \(owner)` works on their containers, `sudo -H` on those of root")
    }

    /// A variable's text, which may be a path.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cPath: value)
    }

    /// The folder of a container, whether it exists or not.
    static func path(_ name: String) throws(Failure) -> String {
        try check(name)
        return try home() + "/" + name
    }

    /// A container's name is one plain path component.
    static func check(_ name: String) throws(Failure) {
        if reserved.contains(name) {
            throw Failure(
                .usage, "\"\(name)\" cannot name a container: it is a command of shapeedit")
        }
        if !ContainerName.isValid(name) {
            throw Failure(
                .usage,
                "\"\(name)\" cannot name a container: letters, digits and signs without spaces or "
                    + "slashes, not beginning with a dot or a dash, at most 200 bytes")
        }
    }

    /// Fails if a container that is shown at a folder would hide its own files, or those of others: they
    /// would be looked for in the mount itself.
    ///
    /// - Parameter point: a path without symlinks.
    static func checkApart(_ name: String, from point: String) throws(Failure) {
        for folder in [try home(), try path(name)] {
            let place = place(of: folder)
            if MountTable.isBelow(point, place) || MountTable.isBelow(place, point) {
                throw Failure(
                    .cannotCreate,
                    "\(point): the files of containers belong to \(place); choose an empty folder "
                        + "elsewhere")
            }
        }
    }

    /// Fails if a store is among the files of a container, which lie in folders of the same kind: a content
    /// that the one has would count as one that the other has, and go.
    static func checkApart(store path: String) throws(Failure) {
        let store = place(of: path)
        let home = try home()
        for folder in [home] + (try names().map { home + "/" + $0 })
        where MountTable.isBelow(store, place(of: folder)) {
            throw Failure(
                .cannotCreate,
                "\(path): the files of containers belong to \(place(of: folder)); choose another folder "
                    + "for the store")
        }
    }

    /// Fails if a container that is shown at a folder would hide its own store: what is not there would be
    /// waited for, and what is put there would be a document.
    ///
    /// - Parameters:
    ///   - address: of the store.
    ///   - point: a path without symlinks.
    static func checkApart(storeAt address: String, from point: String) throws(Failure) {
        guard case .folder(let path) = try StoreAddress(parsing: address),
            MountTable.isBelow(place(of: path), point)
        else { return }
        throw Failure(
            .cannotCreate,
            "\(point): the container's store belongs below it, to \(path); choose an empty folder elsewhere"
        )
    }

    /// A path without symlinks, of which some may still have to be made.
    private static func place(of path: String) -> String {
        var there = path[...]
        while let slash = there.lastIndex(of: "/"), slash > there.startIndex {
            if let resolved = MountTable.resolved(String(there)) {
                return resolved + path[there.endIndex...]
            }
            there = there[..<slash]
        }
        return path
    }

    static func exists(_ name: String) throws(Failure) -> Bool {
        try ContainerFolder(path: try path(name)).hasCatalog()
    }

    /// Fails unless there is a container of this name.
    ///
    /// - Parameter advice: what to do if there is none, behind that.
    static func checkExists(_ name: String, advice: String = "") throws(Failure) {
        if try exists(name) { return }
        if let lost = ContainerFolder(path: try path(name)).lostCatalog { throw lost }
        throw Failure(.noInput, "there is no container \(name)\(advice)")
    }

    /// - Parameters:
    ///   - store: the address of the container's store; `nil`: none.
    ///   - hasSamples: whether its first mount fills it with samples.
    static func create(
        _ name: String, store: String? = nil, hasSamples: Bool = false
    ) throws(Failure) {
        let path = try path(name)
        let home = try home()
        do throws(Errno) {
            try Directories.make(home)
            try SystemCalls.check { access(home.cPath, W_OK | X_OK) }
        } catch {
            let failure = Failure(.cannotCreate, "\(home): \(error)")
            if [ENOSPC, EDQUOT, EIO].contains(error.code) { throw failure }
            throw failure.advising(
                "containers are kept there: make it a folder that you can write to, or say by "
                    + "XDG_DATA_HOME where else")
        }
        // Nobody could tell the two apart, and grants count by the names of containers as text.
        if let other = try names().first(where: { $0 == name && PathKey($0) != PathKey(name) }) {
            throw Failure(
                .cannotCreate,
                "there is a container \(other) already: its name looks the same, but is spelled with other "
                    + "bytes")
        }
        try Container.create(name, at: path, store: store, hasSamples: hasSamples)
    }

    /// The address of a container's store; `nil` if it has none.
    static func store(_ name: String) throws(Failure) -> String? {
        try Container.store(at: try path(name))
    }

    static func names() throws(Failure) -> [String] {
        let home = try home()
        return try entries(of: home).filter {
            access(ContainerFolder(path: home + "/" + $0).catalog.cPath, F_OK) == 0
        }
    }

    /// Containers that cannot be used as they are: what is missing of each.
    static func lost() throws(Failure) -> [String: Failure] {
        let home = try home()
        var lost: [String: Failure] = [:]
        for name in try entries(of: home) where ContainerName.isValid(name) {
            let folder = ContainerFolder(path: home + "/" + name)
            do throws(Failure) {
                lost[name] = try folder.hasCatalog() ? nil : folder.lostCatalog
            } catch { lost[name] = error }
        }
        return lost
    }

    private static func entries(of home: String) throws(Failure) -> [String] {
        // What may not be entered is not empty.
        if access(home.cPath, F_OK) != 0, errno == ENOENT { return [] }
        do throws(Errno) { return try Directories.names(in: home).sorted() } catch {
            let kind: Failure.Kind = error.code == ENOTDIR ? .configuration : .noPermission
            throw Failure(kind, "\(home): \(error)")
        }
    }
}
