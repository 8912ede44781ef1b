internal import Glibc

/// A result in the bytes of a daemon's answer. Valid as long as those.
package enum FoundText {
    /// In the form that `FoundLine` (Model) writes, and every byte of its texts stands for itself.
    case plain(PlainResult)
    /// In any other form.
    case odd(FoundItem)

    /// - Parameter prefix: the mount point with a slash.
    package func item(below prefix: String) -> FoundItem {
        switch self {
        case .plain(let result): FoundItem(result, below: prefix)
        case .odd(let item): item
        }
    }
}

/// The parts of a result as they stand in an object: UTF-8 without control characters, quotation marks
/// and backslashes. So they can be printed as they are.
package struct PlainResult {
    /// Below the mount.
    package let path: UnsafeRawBufferPointer
    /// What follows in the object, from the quotation mark behind the path to the closing brace.
    package let rest: UnsafeRawBufferPointer
    fileprivate let item: Int
    fileprivate let document: UnsafeRawBufferPointer
    fileprivate let isFolder: Bool
    fileprivate let size: Int
    fileprivate let modified: UnsafeRawBufferPointer
    fileprivate let isPromise: Bool
    fileprivate let title: UnsafeRawBufferPointer?

    /// Reads an object; `nil` if it has another form.
    init?(_ reader: inout ObjectReader) {
        guard reader.takes("{\"path\": "), let path = reader.text(),
            reader.takes(", \"item\": "), let item = reader.number(),
            reader.takes(", \"document\": "), let document = reader.text(),
            reader.takes(", \"folder\": "), let isFolder = reader.flag(),
            reader.takes(", \"size\": "), let size = reader.number(),
            reader.takes(", \"modified\": "), let modified = reader.text(),
            reader.takes(", \"promise\": "), let isPromise = reader.flag()
        else { return nil }
        var title: UnsafeRawBufferPointer?
        if reader.takes(", \"title\": ") {
            title = reader.text()
            if title == nil { return nil }
        }
        guard reader.takes("}") else { return nil }
        (self.path, self.item, self.document, self.isFolder) = (path, item, document, isFolder)
        (self.size, self.modified, self.isPromise) = (size, modified, isPromise)
        self.title = title
        rest = reader.bytes(from: path)
    }
}

extension FoundItem {
    fileprivate init(_ result: PlainResult, below prefix: String) {
        func text(_ bytes: UnsafeRawBufferPointer) -> String {
            String(decoding: bytes, as: UTF8.self)
        }
        self.init(
            path: prefix + text(result.path), item: result.item, document: text(result.document),
            isFolder: result.isFolder, size: result.size, modified: text(result.modified),
            isPromise: result.isPromise, title: result.title.map(text))
    }
}

/// Reads the pieces of an object of a known form.
struct ObjectReader {
    private let bytes: UnsafeRawBufferPointer
    /// Behind what was read last.
    private(set) var place: Int

    init(_ bytes: UnsafeRawBufferPointer, from start: Int) { (self.bytes, place) = (bytes, start) }

    mutating func takes(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard place + count <= bytes.count, let base = bytes.baseAddress,
            memcmp(base + place, text.utf8Start, count) == 0
        else { return false }
        place += count
        return true
    }

    mutating func number() -> Int? {
        let start = place
        var value = 0
        var isTooLarge = false
        while place < bytes.count, bytes[place] &- UInt8(ascii: "0") < 10 {
            let (tenfold, overflows) = value.multipliedReportingOverflow(by: 10)
            let sum = tenfold.addingReportingOverflow(Int(bytes[place] - UInt8(ascii: "0")))
            value = sum.partialValue
            if overflows || sum.overflow { isTooLarge = true }
            place += 1
        }
        let isOne = place == start + 1 || place > start && bytes[start] != UInt8(ascii: "0")
        return isOne && !isTooLarge ? value : nil
    }

    mutating func flag() -> Bool? { takes("true") ? true : takes("false") ? false : nil }

    /// What stands between quotation marks, if every byte stands for itself and may be printed.
    mutating func text() -> UnsafeRawBufferPointer? {
        guard takes("\"") else { return nil }
        let start = place
        var isASCII = true
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            let byte = bytes[place]
            if byte < 0x20 || byte == UInt8(ascii: "\\") || byte == 0x7f { return nil }
            if byte >= 0x80 { isASCII = false }
            place += 1
        }
        guard place < bytes.count else { return nil }
        let found = UnsafeRawBufferPointer(rebasing: bytes[start..<place])
        place += 1
        return isASCII || Self.isPrintable(found) ? found : nil
    }

    /// UTF-8 without the controls from U+0080 on.
    private static func isPrintable(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let decoded = String(validating: text, as: UTF8.self) else { return false }
        return !decoded.unicodeScalars.contains { (0x80..<0xa0).contains($0.value) }
    }

    /// From behind a text that was read to ``place``.
    func bytes(from text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = bytes.baseAddress, let start = text.baseAddress else { return text }
        return UnsafeRawBufferPointer(rebasing: bytes[(start - base + text.count)..<place])
    }
}
