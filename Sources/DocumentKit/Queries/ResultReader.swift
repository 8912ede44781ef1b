internal import Documents
internal import Model

/// Reads results as the daemon tells them, one after the other: JSON objects with anything but a brace
/// between them.
///
/// The form that `FoundLine` (Model) writes is taken as it is, because there may be a hundred thousand;
/// every other one is read as JSON.
struct ResultReader {
    private let bytes: UnsafeRawBufferPointer
    private let mountPoint: String
    /// Behind the last result.
    private(set) var place: Int

    init(_ bytes: UnsafeRawBufferPointer, from start: Int, in mountPoint: String) {
        self.bytes = bytes
        self.mountPoint = mountPoint
        place = start
    }

    /// The next result; `nil` if there is none, or what follows is no result.
    mutating func next() -> FoundText? {
        while place < bytes.count, bytes[place] != UInt8(ascii: "{") { place += 1 }
        var reader = ObjectReader(bytes, from: place)
        if let result = PlainResult(&reader) {
            place = reader.place
            return .plain(result)
        }
        return odd().map(FoundText.odd)
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
                return value?.object.flatMap { FoundItem($0, in: mountPoint) }
            default: break
            }
        }
        return nil
    }
}
