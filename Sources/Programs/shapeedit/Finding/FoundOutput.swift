import DocumentKit

/// The results of a query as the command prints them. They are put together before any is printed:
/// nobody may take half an answer for all of it.
struct FoundOutput {
    enum Form {
        /// A path a line, fit for terminals.
        case lines
        /// Paths as they are, with a zero byte behind each.
        case names
        /// One array.
        case json
    }
    private let form: Form
    /// What stands before each path: the mount point in the form.
    private let prefix: [UInt8]
    private var bytes: [UInt8] = []

    init(in mountPoint: String, _ form: Form) {
        self.form = form
        let folder = mountPoint + "/"
        switch form {
        case .lines: prefix = Array(Console.printable(folder).utf8)
        case .names: prefix = Array(folder.utf8)
        // Without the quotation mark at its end.
        case .json: prefix = Array("{\"path\": ".utf8) + Console.quoted(folder).utf8.dropLast()
        }
    }

    mutating func add(_ result: FoundText) {
        if form == .json { bytes += (bytes.isEmpty ? "[" : ", ").utf8 }
        switch result {
        case .plain(let result):
            bytes += prefix
            bytes.append(contentsOf: result.path)
            if form == .json { bytes.append(contentsOf: result.rest) }
        case .odd(let item):
            switch form {
            case .lines: bytes += Console.printable(item.path).utf8
            case .names: bytes += item.path.utf8
            case .json: bytes += item.json.utf8
            }
        }
        switch form {
        case .lines: bytes.append(UInt8(ascii: "\n"))
        case .names: bytes.append(0)
        case .json: break
        }
    }

    /// Prints all of it; to be called once.
    mutating func print() {
        if form == .json { bytes += (bytes.isEmpty ? "[]\n" : "]\n").utf8 }
        Console.write(bytes)
    }
}

extension FoundItem {
    var json: String {
        "{\"path\": " + JSONText.string(path) + ", \"item\": \(item), \"document\": "
            + JSONText.string(document)
            + ", \"folder\": \(isFolder), \"size\": \(size), \"modified\": "
            + JSONText.string(modified) + ", \"promise\": \(isPromise)"
            + (title.map { ", \"title\": " + JSONText.string($0) } ?? "") + "}"
    }
}
