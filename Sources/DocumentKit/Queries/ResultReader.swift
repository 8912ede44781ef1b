internal import Documents
internal import Glibc
internal import Model

/// Reads results as the daemon tells them, one after the other: JSON objects with anything but a brace
/// between them.
///
/// The form that `FoundLine` (Model) writes is read as it is, because there may be a hundred thousand;
/// every other one as JSON.
struct ResultReader {
    private let bytes: UnsafeRawBufferPointer
    private let mountPoint: String
    /// Behind the last result.
    private(set) var place: Int

    init(_ bytes: UnsafeRawBufferPointer, from start: Int, in mountPoint: String) {
        self.bytes = bytes
        self.mountPoint = mountPoint + "/"
        place = start
    }

    /// The next result; `nil` if there is none, or what follows is no result.
    mutating func next() -> FoundItem? {
        while place < bytes.count, bytes[place] != UInt8(ascii: "{") { place += 1 }
        let start = place
        if let item = plain() { return item }
        place = start
        return odd()
    }

    private mutating func plain() -> FoundItem? {
        guard takes("{\"path\": "), let path = text(after: mountPoint),
            takes(", \"item\": "), let item = number(),
            takes(", \"document\": "), let document = text(),
            takes(", \"folder\": "), let isFolder = flag(),
            takes(", \"size\": "), let size = number(),
            takes(", \"modified\": "), let modified = text(),
            takes(", \"promise\": "), let isPromise = flag()
        else { return nil }
        var title: String?
        if takes(", \"title\": ") {
            title = text()
            if title == nil { return nil }
        }
        guard takes("}") else { return nil }
        return FoundItem(
            path: path, item: item, document: document, isFolder: isFolder, size: size,
            modified: modified, isPromise: isPromise, title: title)
    }

    private mutating func takes(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard place + count <= bytes.count else { return false }
        guard let base = bytes.baseAddress, memcmp(base + place, text.utf8Start, count) == 0 else {
            return false
        }
        place += count
        return true
    }

    private mutating func number() -> Int? {
        let start = place
        var value = 0
        while place < bytes.count, bytes[place] &- UInt8(ascii: "0") < 10 {
            value = value &* 10 &+ Int(bytes[place] - UInt8(ascii: "0"))
            place += 1
        }
        return (1...18).contains(place - start) ? value : nil
    }

    private mutating func flag() -> Bool? { takes("true") ? true : takes("false") ? false : nil }

    /// A string in which every byte stands for itself, behind a prefix.
    private mutating func text(after prefix: String = "") -> String? {
        guard takes("\"") else { return nil }
        guard let start = bytes.baseAddress.map({ $0 + place }),
            let end = memchr(start, Int32(UInt8(ascii: "\"")), bytes.count - place)
        else { return nil }
        let text = UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(end) - start)
        if memchr(start, Int32(UInt8(ascii: "\\")), text.count) != nil { return nil }
        place += text.count + 1
        let found = String(decoding: text, as: UTF8.self)
        return prefix.isEmpty ? found : prefix + found
    }

    /// An object of any form.
    private mutating func odd() -> FoundItem? {
        let start = place
        var depth = 0
        var isText = false
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if isText {
                if byte == UInt8(ascii: "\\") { place += 1 }
                if byte == UInt8(ascii: "\"") { isText = false }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                guard depth == 0 else { continue }
                let value = try? JSONValue.read(Array(bytes[start..<place]))
                return value?.object.flatMap { FoundItem($0, in: String(mountPoint.dropLast())) }
            default: break
            }
        }
        return nil
    }
}
