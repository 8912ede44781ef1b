import PathText

/// A document in the folder that is browsed.
package struct BrowserEntry: Hashable, Sendable {
    /// From the folder on, without a slash at its beginning.
    package var path: String
    /// Its number, by which it is known again under another name.
    package var item: UInt64
    package var size: Int64
    /// When anything of the file was changed, which nobody can set, and when it was last looked at, in
    /// nanoseconds since 1970; 0 for never.
    package var changed: Int64
    package var viewed: Int64
    /// Which of all documents it is.
    package internal(set) var identity: BrowserIdentity

    package init(path: String, item: UInt64, size: Int64, changed: Int64, viewed: Int64) {
        self.path = path
        self.item = item
        identity = BrowserIdentity(item: item)
        self.size = size
        self.changed = changed
        self.viewed = viewed
    }

    /// Its file's name.
    package var name: String { path.pathNames.last.map(String.init) ?? path }

    /// Its file's name without the end.
    package var title: String {
        let name = name
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Whether a path holds a filter, given in small letters.
    package static func path(_ path: String, holds wanted: String) -> Bool {
        path.lowercased().contains(wanted)
    }

    /// What its picture depends on.
    package var version: BrowserVersion {
        BrowserVersion(item: item, size: size, changed: changed, path: path)
    }
}

/// By what a document is known again. That is its number, under whatever name; but several names of
/// one file have the same, and so may files of different disks: those are told apart by their paths,
/// or what is done to the one would happen to the other.
package struct BrowserIdentity: Hashable, Sendable {
    package var item: UInt64
    /// Nil if no other document has the number. As bytes: file systems know no names that look alike.
    package var path: [UInt8]?

    package init(item: UInt64, path: String? = nil) {
        self.item = item
        self.path = path?.pathBytes
    }
}

/// A version of a document as far as a listing tells. Not by its time of modification: programs that copy
/// files give them the one they had.
package struct BrowserVersion: Hashable, Sendable {
    package var item: UInt64
    package var size: Int64
    package var changed: Int64
    /// Where it is: the name's end tells how it is drawn.
    package var path: String
}

/// What a mount says of a document besides.
package struct BrowserDetails: Hashable, Sendable {
    /// `user.shapeedit.state`: promise, downloading, local and so on; empty outside a mount.
    package var state: String
    /// `user.shapeedit.progress`, in percent.
    package var progress: Int?
    /// `user.shapeedit.pin`; empty if there is none.
    package var pin: String

    package init(state: String = "", progress: Int? = nil, pin: String = "") {
        self.state = state
        self.progress = progress
        self.pin = pin
    }
}
