internal import Catalog
internal import Content
internal import Glibc
internal import Model
internal import SystemCalls

/// What the catalog's file was when the container was closed, kept in a file beside it.
///
/// SQLite keeps no checksums: it sees damage to the structure of its file, but not that a time or a letter of a
/// name is another one, and nothing at all in the pages that it holds in reserve.
///
/// The sum counts only for a container that is closed, and only if the catalog knows the word that it was
/// written with: there is a new one for each closing, and opening a container takes it away. So it need not
/// be written in any order with the catalog, nor be on the disk.
///
/// A sum is made while this process has no connection to the catalog: closing a descriptor of its file drops
/// the locks that SQLite has on it.
struct CatalogSum {
    /// Where the catalog keeps the word.
    static let key = CatalogDatabase.closing

    /// The word of the closing.
    let closing: String
    /// Whether the file has the bytes that it had then.
    let isKept: Bool

    /// Reads the sum and the catalog; `nil` if there is none, or it cannot be read.
    init?(of folder: ContainerFolder) {
        let words = Self.noted(folder)?.split(separator: " ", omittingEmptySubsequences: false)
        guard let words, words.count == 3, words[2] == "\n", let sum = Self.sum(folder) else {
            return nil
        }
        closing = String(words[0])
        isKept = words[1] == sum
    }

    /// Whether this is of the closing that the catalog remembers, and nobody has opened the container since.
    func counts(in database: CatalogDatabase) -> Bool {
        guard let clean = try? database.meta("clean"), let closing = try? database.meta(Self.key)
        else { return false }
        return clean == "1" && closing == self.closing
            && closing.hasSuffix(Self.mark(database.appliedSequence))
    }

    /// The word for a closing after that change: a program that does not know of the sum leaves it, and makes
    /// others.
    static func closing(of change: ChangeSequence) -> String {
        String(UInt64.random(in: 0...UInt64.max), radix: 16) + mark(change)
    }

    private static func mark(_ change: ChangeSequence) -> String { "-\(change)" }

    /// Notes what the catalog's file is now. Without room there is no sum, and nothing is wrong.
    static func note(_ folder: ContainerFolder, closing: String) {
        guard let sum = sum(folder) else { return }
        let text = "\(closing) \(sum) \n"
        guard text != noted(folder),
            let file = try? OwnedDescriptor.open(
                folder.catalogSum, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK,
                mode: 0o600)
        else { return }
        try? file.write(Array(text.utf8), at: 0)
    }

    /// What the file of the sum holds.
    private static func noted(_ folder: ContainerFolder) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        guard
            let file = try? OwnedDescriptor.open(
                folder.catalogSum, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let count = try? file.read(into: &bytes, at: 0)
        else { return nil }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func sum(_ folder: ContainerFolder) -> String? {
        guard
            let file = try? OwnedDescriptor.open(folder.catalog, O_RDONLY | O_NONBLOCK),
            let (_, digest) = try? Hashing.sha256(of: file, size: .max)
        else { return nil }
        return ContentHash(bytes: digest)?.description
    }
}
