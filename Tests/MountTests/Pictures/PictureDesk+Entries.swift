import Probing
import TestSupport
import Testing

/// Documents as GIO sees them.
extension PictureDesk {
    /// What `gio info` says of the thumbnail: its path if there is a valid one.
    func thumbnail(_ name: String) throws -> String? {
        let result = try run(
            ["gio", "info", "-a", "thumbnail::*", "\(container.mountPoint)/\(name)"],
            environment: container.environment)
        try #require(result.status == 0, "\(result)")
        guard result.text.contains("thumbnail::is-valid: TRUE") else { return nil }
        let line = result.text.split(separator: "\n").first { $0.contains("thumbnail::path: ") }
        return line.map { String($0.drop { $0 != "/" }) }
    }

    /// Where the entries of a document are, if there are any: the smallest first.
    func entries(of name: String) throws -> [String] {
        let address = "file://\(container.mountPoint)/\(name)"
        let sum = try run(["sh", "-c", "printf %s \"$1\" | md5sum", "sh", address]).text
        return ["normal", "large", "x-large", "xx-large"].map {
            "\(cache)/\($0)/\(sum.prefix(32)).png"
        }
    }

    /// Whether GIO sees the document's picture, and not that of another one.
    func isRight(_ name: String) throws -> Bool {
        guard let entry = try thumbnail(name) else { return false }
        // The largest, with other texts before the same pixels.
        let picture = picture(name, 1_024).bytes
        // It may be on its way to another path.
        return Self.readIfThere(entry)?.suffix(200).elementsEqual(picture.suffix(200))
            == true
    }
}
