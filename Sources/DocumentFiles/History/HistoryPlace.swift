internal import Glibc
internal import PathText
internal import SystemCalls

/// Where the histories lie and which one is whose.
enum HistoryPlace {
    /// The folder of all histories: below `XDG_STATE_HOME`, or `~/.local/state`; `nil` without a
    /// home.
    static var root: String? {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name), value.pointee == UInt8(ascii: "/") else { return nil }
            return String(cPath: value)
        }
        let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        return state.map { $0 + "/shapeedit/history" }
    }

    /// The history's folder of an open file: by document in a mount of ours, else by inode and the
    /// moment it was made. Where the disk does not tell that moment, another file may have had the
    /// inode before, and the folder is not surely this one's.
    static func folder(
        of file: borrowing OwnedDescriptor, isCoordinated: Bool
    ) -> (path: String, isSure: Bool)? {
        guard let root, let status = try? file.status() else { return nil }
        if isCoordinated, let container = containerName(of: file),
            let document = file.attribute("user.shapeedit.id")
        {
            return (root + "/" + prefix(container) + plain(document), true)
        }
        let birth = Directories.birthTime(of: file)
        return (root + "/" + inodeName(status, birth), isCoordinated || birth != 0)
    }

    /// What the container that a file in a mount is in is called here. Not its name alone: one that was
    /// deleted had it, or another user's has it, and all begin with the same document ids. Nor its id
    /// alone: a copy of it has the same.
    private static func containerName(of file: borrowing OwnedDescriptor) -> [UInt8]? {
        guard let name = file.attribute("user.shapeedit.container") else { return nil }
        // A daemon that was started before there was an id knows none.
        return (file.attribute("user.shapeedit.container.id") ?? []) + name
    }

    /// Removes the histories of all documents of a container, as far as that can be.
    static func removeAll(ofContainer name: [UInt8]) {
        guard let root, let folders = try? Directories.names(in: root) else { return }
        let prefix = prefix(name)
        // Another container's name may go on where this one ends; document ids have no dash.
        for folder in folders
        where folder.hasPrefix(prefix) && !folder.dropFirst(prefix.count).contains("-") {
            try? Directories.removeTree(root + "/" + folder)
        }
    }

    /// What the folders of a container's documents begin with.
    private static func prefix(_ container: [UInt8]) -> String {
        "document-" + plain(container) + "-"
    }

    /// Inodes are given out again, often at once and for the same name: the moment tells which file
    /// it is.
    private static func inodeName(_ status: stat, _ birth: UInt64) -> String {
        let inode = String(status.st_dev, radix: 16) + "-" + String(status.st_ino, radix: 16)
        return "file-" + inode + (birth == 0 ? "" : "-" + String(birth, radix: 16))
    }

    /// Letters and digits as they are, anything else as `%` and two digits.
    private static func plain(_ bytes: [UInt8]) -> String {
        bytes.reduce(into: "") { text, byte in
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || byte == 0x2d
            if isPlain {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }
}
