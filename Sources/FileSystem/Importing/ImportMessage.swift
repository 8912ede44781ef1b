internal import Model
internal import PathText
internal import Stores

/// What `shapeedit import` says to the daemon: the value of `user.shapeedit.import`, which is set on the
/// folder that is imported to. Fields end with a NUL:
///
/// ```
/// begin   TOKEN  import|refresh  ADDRESS
/// entries TOKEN  { d|f|l  PATH  IDENTITY  TAG  SIZE  SECONDS  NANOSECONDS  MODE  TARGET }...
/// closed  TOKEN  PATH...
/// unshown TOKEN  PATH...
/// end     TOKEN
/// ```
/// SIZE to MODE are decimal; SECONDS is empty where the source tells no time. TARGET is a symlink's.
/// What is closed is there, but could not be looked at, nor what is below it; an empty PATH is the source itself.
/// What is unshown is there, and cannot be shown as it is now; what is below it has been shown.
/// The call that sets it ends with EINPROGRESS when the daemon has taken the message.
/// The daemon never lists a source itself: what foreign servers say is understood in another process.
enum ImportMessage {
    case begin(token: [UInt8], follows: Bool, address: String)
    case entries(token: [UInt8], [Entry])
    case hidden(token: [UInt8], [[UInt8]], withAllBelow: Bool)
    case end(token: [UInt8])

    struct Entry {
        enum Kind { case folder, file, symlink(target: [UInt8]) }
        var kind: Kind
        var path: [UInt8]
        var identity: [UInt8]
        var tag: [UInt8]
        var size: Int64
        var modified: Timestamp?
        var mode: UInt32

        var isFolder: Bool { if case .folder = kind { true } else { false } }
        /// The last part of the path.
        var name: ArraySlice<UInt8> { Self.name(path) }
        var parent: [UInt8] { Self.parent(path) }

        static func name(_ path: [UInt8]) -> ArraySlice<UInt8> {
            path[((path.lastIndex(of: 0x2f) ?? -1) + 1)...]
        }
        static func parent(_ path: [UInt8]) -> [UInt8] {
            Array(path[..<(path.lastIndex(of: 0x2f) ?? 0)])
        }
        /// The path and those of the folders above it, but for the source's own.
        static func upwards(_ path: [UInt8]) -> some Sequence<[UInt8]> {
            sequence(first: path) { parent($0) }.prefix { !$0.isEmpty }
        }
    }

    /// `nil` for what is not such a message.
    init?(_ bytes: [UInt8]) {
        guard bytes.last == 0 else { return nil }
        let fields = bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
        guard fields.count >= 2, !fields[1].isEmpty else { return nil }
        let token = Array(fields[1])
        let rest = fields[2...]
        switch String(decoding: fields[0], as: UTF8.self) {
        case "begin":
            guard rest.count == 2 else { return nil }
            let mode = String(decoding: rest[2], as: UTF8.self)
            guard mode == "import" || mode == "refresh" else { return nil }
            self = .begin(
                token: token, follows: mode == "refresh",
                address: String(path: rest[3]))
        case "entries":
            guard rest.count.isMultiple(of: 9) else { return nil }
            var entries: [Entry] = []
            for start in stride(from: rest.startIndex, to: rest.endIndex, by: 9) {
                guard let entry = Entry(rest[start..<start + 9]) else { return nil }
                entries.append(entry)
            }
            self = .entries(token: token, entries)
        case let kind where kind == "closed" || kind == "unshown":
            let isClosed = kind == "closed"
            let paths = rest.map(Array.init)
            guard paths.allSatisfy({ (isClosed && $0.isEmpty) || Self.isPath($0) }) else {
                return nil
            }
            self = .hidden(token: token, paths, withAllBelow: isClosed)
        case "end":
            guard rest.isEmpty else { return nil }
            self = .end(token: token)
        default: return nil
        }
    }

    /// Whether each part can be a name.
    fileprivate static func isPath(_ path: [UInt8]) -> Bool {
        path.split(separator: 0x2f, omittingEmptySubsequences: false).allSatisfy { part in
            (1...Limits.name).contains(part.count) && !part.elementsEqual([0x2e])
                && !part.elementsEqual([0x2e, 0x2e])
        }
    }
}

extension ImportMessage.Entry {
    fileprivate init?(_ fields: ArraySlice<ArraySlice<UInt8>>) {
        let fields = Array(fields)
        func number(_ index: Int) -> Int64? {
            Int64(String(decoding: fields[index], as: UTF8.self))
        }
        guard let size = number(4), (0...SourceEntry.largest).contains(size), let mode = number(7),
            (0...0o777).contains(mode), let nanoseconds = number(6),
            (0..<1_000_000_000).contains(nanoseconds)
        else { return nil }
        switch fields[0] {
        case [UInt8(ascii: "d")]: kind = .folder
        case [UInt8(ascii: "f")]: kind = .file
        case [UInt8(ascii: "l")]:
            guard (1...Limits.target).contains(fields[8].count) else { return nil }
            kind = .symlink(target: Array(fields[8]))
        default: return nil
        }
        path = Array(fields[1])
        guard ImportMessage.isPath(path) else { return nil }
        identity = Array(fields[2])
        tag = Array(fields[3])
        // The tag is what tells a folder's origin from others.
        if tag.isEmpty != (fields[0] == [UInt8(ascii: "d")]) { return nil }
        self.size = size
        self.mode = UInt32(mode)
        modified = number(5).map { Timestamp(seconds: $0, nanoseconds: nanoseconds) }
        if !fields[5].isEmpty, modified == nil { return nil }
    }
}
