/// Whether a name is one that programs give to files that are about to become, or to stand beside,
/// a document: such files are no documents to remember.
///
/// Takes only patterns that people hardly ever choose; in doubt the file is a document.
package func isTemporaryName(_ name: [UInt8]) -> Bool {
    let name = name[...]
    // GLib saves through ".goutputstream-XXXXXX".
    if let rest = name.without(prefix: ".goutputstream-") { return rest.isSixAlphanumerics }
    // xdg-desktop-portal saves through ".xdp-NAME-XXXXXX".
    if let rest = name.without(prefix: ".xdp-"), let tail = rest.tail(after: UInt8(ascii: "-")) {
        return tail.isSixAlphanumerics
    }
    // LibreOffice's lock, ".~lock.NAME#".
    if let rest = name.without(prefix: ".~lock.") {
        return rest.count > 1 && rest.last == UInt8(ascii: "#")
    }
    // Emacs: its lock ".#NAME", its auto-save "#NAME#".
    if let rest = name.without(prefix: ".#") { return !rest.isEmpty }
    if let rest = name.without(prefix: "#") {
        return rest.count > 1 && rest.last == UInt8(ascii: "#")
    }
    // vim's try whether it may make files here, and the backups of vim and emacs.
    if name.elementsEqual("4913".utf8) { return true }
    if name.last == UInt8(ascii: "~") { return name.count > 1 }
    guard let tail = name.tail(after: UInt8(ascii: ".")) else { return false }
    let isHidden = name.first == UInt8(ascii: ".") && name.dropFirst().contains(UInt8(ascii: "."))
    // vim's swap files, ".NAME.swp" and the next ones.
    if isHidden, ["swp", "swo", "swx"].contains(where: { tail.elementsEqual($0.utf8) }) {
        return true
    }
    // rsync receives into ".NAME.XXXXXX", Qt saves through "NAME.XXXXXX". An ending of six letters
    // may as well be a word (".app.backup", "notes.Draft1"), so it has to look random, and more so
    // where the name is not hidden.
    return tail.isSixAlphanumerics && tail.classChanges >= (isHidden ? 2 : 3)
}

/// As the other one, for many names: most are told apart by a look at their ends.
package func isTemporaryName(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let first = name.first, let last = name.last else { return false }
    let mayBe =
        first == UInt8(ascii: ".") || first == UInt8(ascii: "#") || first == UInt8(ascii: "4")
        || last == UInt8(ascii: "~")
        || name.count > 7 && name[name.count - 7] == UInt8(ascii: ".")
    return mayBe && isTemporaryName(Array(name))
}

extension ArraySlice<UInt8> {
    fileprivate func without(prefix: StaticString) -> ArraySlice<UInt8>? {
        prefix.withUTF8Buffer { starts(with: $0) ? dropFirst($0.count) : nil }
    }

    /// What stands behind the last `separator`; `nil` if nothing stands before it.
    fileprivate func tail(after separator: UInt8) -> ArraySlice<UInt8>? {
        guard let index = lastIndex(of: separator), index > startIndex else { return nil }
        return self[(index + 1)...]
    }

    /// As mkstemp(3) and its relatives fill in "XXXXXX".
    fileprivate var isSixAlphanumerics: Bool {
        count == 6 && allSatisfy { Self.characterClass($0) != nil }
    }

    /// How often the kind of character changes from one to the next. Words change at most twice
    /// ("iPhone", "Draft1"); most random ones three times or more.
    fileprivate var classChanges: Int {
        zip(self, dropFirst()).count { Self.characterClass($0) != Self.characterClass($1) }
    }

    private static func characterClass(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): 0
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"): 2
        default: nil
        }
    }
}
