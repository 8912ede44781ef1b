import DocumentKit
import PathText

/// The results of a query as the command prints them. They are put together before any is printed:
/// nobody may take half an answer for all of it.
struct FoundOutput {
    enum Form {
        /// A path a line, on a terminal fit for it.
        case lines
        /// Paths as they are, with a zero byte behind each.
        case names
        /// One array.
        case json
    }
    private let form: Form
    /// The mount point with a slash.
    private let folder: String
    /// What stands before each path: the mount point in the form.
    private let prefix: [UInt8]
    private var bytes: [UInt8] = []

    init(in mountPoint: String, _ form: Form) {
        self.form = form
        folder = mountPoint + "/"
        switch form {
        case .lines: prefix = Console.bytes(ofPath: folder)
        case .names: prefix = folder.pathBytes
        // Without the quotation mark at its end.
        case .json: prefix = Array("{\"path\": ".utf8) + PathText.quoted(folder).utf8.dropLast()
        }
    }

    mutating func add(_ result: FoundText) {
        if form == .json { bytes += (bytes.isEmpty ? "[" : ", ").utf8 }
        switch result {
        // Below a mount point that is not UTF-8 no path is.
        case .plain(let result) where form != .json || !folder.hasPathMarks:
            bytes += prefix
            bytes.append(contentsOf: result.path)
            if form == .json { bytes.append(contentsOf: result.rest) }
        case .plain, .odd:
            let item = result.item(below: folder)
            switch form {
            case .lines: bytes += Console.bytes(ofPath: item.path)
            case .names: bytes += item.path.pathBytes
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
        // In the form of the daemon's lines, most of which are copied.
        var members = [
            ("path", JSONText.string(path)), ("item", String(item)),
            ("document", JSONText.string(document)), ("folder", String(isFolder)),
            ("size", String(size)), ("modified", JSONText.string(modified)),
            ("promise", String(isPromise)),
        ]
        if let title { members.append(("title", JSONText.string(title))) }
        members += JSONText.path("path", path).dropFirst()
        return JSONText.object(members)
    }
}
