internal import Model
internal import PathText

/// What an owner answers to a query of an application: which of the documents granted to it are
/// found, as the application may know them. As bytes it is a file below `.shapeedit/granted`.
struct GrantedAnswer: Sendable {
    /// A document that is found.
    struct Row: Sendable {
        var document: DocumentID
        /// Its current version, among those of the document.
        var version: NodeNumber
        /// As the owner calls it; no other document granted to the application is called so.
        var name: String
        /// Bytes.
        var size: Int64
        var modified: Timestamp
        var isPromise: Bool
        /// `nil` if it has none, or the query tells none.
        var title: String?
    }

    /// In no order.
    var rows: [Row] = []
    /// How many documents are granted to the application, found or not.
    var granted = 0
    /// When the first of those grants ends; `nil` if all last until they are revoked.
    var until: Timestamp?
    /// Why some may be missing.
    var problem: String?

    init() {}

    // Texts end with a NUL, which no name has in it; what stands before them has a space behind it.

    /// The answer as bytes.
    var text: [UInt8] {
        var bytes = Self.line(["\(granted)", "\(until?.rawValue ?? 0)", problem ?? ""])
        for row in rows {
            bytes += Self.line([
                "\(row.document)", "\(row.size)", "\(row.modified.rawValue)",
                row.isPromise ? "1" : "0", row.name,
            ])
            bytes += Self.line(["\(row.version.rawValue)", row.title ?? ""])
        }
        return bytes
    }

    private static func line(_ parts: [String]) -> [UInt8] {
        let bytes = parts.map { $0.pathBytes.filter { $0 != 0 } }
        return Array(bytes.joined(separator: [UInt8(ascii: " ")])) + [0]
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    init?(_ text: [UInt8]) {
        var lines = text.split(separator: 0, omittingEmptySubsequences: false)
        // Behind the last NUL is nothing.
        guard lines.popLast()?.isEmpty == true, lines.count % 2 == 1,
            let head = Self.parts(of: lines[0], 3), let granted = Int(head[0]),
            let until = UInt64(head[1])
        else { return nil }
        self.granted = granted
        self.until = until == 0 ? nil : Timestamp(rawValue: until)
        problem = head[2].isEmpty ? nil : head[2]
        for index in stride(from: 1, to: lines.count, by: 2) {
            guard let parts = Self.parts(of: lines[index], 5), let document = DocumentID(parts[0]),
                let size = Int64(parts[1]), let modified = UInt64(parts[2]),
                let more = Self.parts(of: lines[index + 1], 2), let version = UInt64(more[0])
            else { return nil }
            rows.append(
                Row(
                    document: document, version: NodeNumber(rawValue: version), name: parts[4],
                    size: size, modified: Timestamp(rawValue: modified),
                    isPromise: parts[3] == "1", title: more[1].isEmpty ? nil : more[1]))
        }
    }

    /// So many texts with spaces between; there may be more spaces in the last one.
    private static func parts(of line: ArraySlice<UInt8>, _ count: Int) -> [String]? {
        let parts = line.split(
            separator: UInt8(ascii: " "), maxSplits: count - 1, omittingEmptySubsequences: false)
        return parts.count == count ? parts.map { String(path: $0) } : nil
    }
}
