/// Reads binary property lists (`bplist00`) that may be made to do harm.
///
/// Every object is looked at once: scalars are kept and shared, and a container that two others
/// hold is refused, because a small file can nest those into more objects than memory holds. No
/// writer of property lists shares containers.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private var offsetSize = 0
    private var referenceSize = 0
    private var offsetTable = 0
    private var objectCount = 0
    private var scalars: [PropertyList?] = []
    private var visitedContainers: [Bool] = []
    /// Bytes of the strings and data that were held before, each time they are held again.
    private var sharedBytes = 0

    /// What every binary property list begins with.
    static let magic = Array("bplist00".utf8)
    private static let trailerSize = 32

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(DocumentError) -> PropertyList {
        guard bytes.count >= BinaryPropertyListReader.magic.count + Self.trailerSize else {
            throw DocumentError(.malformed, "too short for a binary property list")
        }
        let trailer = bytes.count - Self.trailerSize
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw DocumentError(.malformed, at: .byte(trailer + 6), "impossible sizes of numbers")
        }
        guard let count = unsigned(at: trailer + 8, size: 8), count >= 1,
            let top = unsigned(at: trailer + 16, size: 8), top < count,
            let table = unsigned(at: trailer + 24, size: 8),
            table >= BinaryPropertyListReader.magic.count, table < trailer,
            // Division, because a product could be beyond 64 bits.
            count <= (trailer - table) / offsetSize
        else {
            throw DocumentError(
                .malformed, at: .byte(trailer), "the trailer counts objects beyond the file")
        }
        objectCount = count
        offsetTable = table
        scalars = Array(repeating: nil, count: count)
        visitedContainers = Array(repeating: false, count: count)
        return try object(top, depth: 0)
    }

    /// A big-endian number; nil if it is not in the file or beyond 63 bits.
    private func unsigned(at offset: Int, size: Int) -> Int? {
        guard offset >= 0, size <= bytes.count, offset <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for byte in bytes[offset..<(offset + size)] {
            guard value >> 56 == 0 else { return nil }
            value = value << 8 | UInt64(byte)
        }
        return Int(exactly: value)
    }

    private mutating func object(_ index: Int, depth: Int) throws(DocumentError) -> PropertyList {
        if let known = scalars[index] {
            try count(shared: known, index)
            return known
        }
        guard let start = unsigned(at: offsetTable + index * offsetSize, size: offsetSize),
            start >= BinaryPropertyListReader.magic.count, start < offsetTable
        else {
            throw DocumentError(
                .malformed, at: .byte(offsetTable + index * offsetSize),
                "object \(index) begins outside of the file's objects")
        }
        var cursor = Cursor(index: index, start: start, offset: start + 1)
        let marker = bytes[start]
        switch marker >> 4 {
        case 0xa, 0xd:
            guard !visitedContainers[index] else {
                throw cursor.error(.malformed, "a container that is held twice or holds itself")
            }
            visitedContainers[index] = true
            guard depth < Limits.propertyListDepth else {
                throw cursor.error(.tooLarge, "more than \(Limits.propertyListDepth) levels")
            }
            let count = try count(of: marker, &cursor)
            return marker >> 4 == 0xa
                ? .array(try elements(count, cursor, depth: depth))
                : .dictionary(try entries(count, cursor, depth: depth))
        default:
            let value = try scalar(marker, &cursor)
            scalars[index] = value
            return value
        }
    }

    /// Counts a value that is held once more. Memory has it once, but whoever writes or compares the
    /// list goes through it each time: a small file can hold one of many bytes very often.
    private mutating func count(
        shared value: PropertyList, _ index: Int
    ) throws(DocumentError) {
        switch value {
        case .string(let text): sharedBytes += text.utf8.count
        case .data(let bytes): sharedBytes += bytes.count
        default: return
        }
        guard sharedBytes <= Limits.propertyListSharedBytes else {
            let start = unsigned(at: offsetTable + index * offsetSize, size: offsetSize) ?? 0
            throw DocumentError(
                .tooLarge, at: .object(index, offset: start),
                "strings and data that are held again have more than "
                    + "\(Limits.propertyListSharedBytes) bytes together")
        }
    }

    /// Where an object is being read.
    private struct Cursor {
        let index: Int
        let start: Int
        var offset: Int

        func error(_ kind: DocumentError.Kind, _ reason: String) -> DocumentError {
            DocumentError(kind, at: .object(index, offset: start), reason)
        }
    }
}

// Containers.
extension BinaryPropertyListReader {
    private mutating func elements(
        _ count: Int, _ cursor: Cursor, depth: Int
    ) throws(DocumentError) -> [PropertyList] {
        try require(count, times: referenceSize, cursor)
        var elements: [PropertyList] = []
        elements.reserveCapacity(count)
        for position in 0..<count {
            let reference = try reference(position, cursor)
            elements.append(try object(reference, depth: depth + 1))
        }
        return elements
    }

    private mutating func entries(
        _ count: Int, _ cursor: Cursor, depth: Int
    ) throws(DocumentError) -> [PropertyList.Entry] {
        try require(count, times: 2 * referenceSize, cursor)
        var entries: [PropertyList.Entry] = []
        entries.reserveCapacity(count)
        // Most dictionaries have a handful of keys, for which looking is quicker than hashing.
        let isSmall = count <= 8
        var keys: Set<Exact<String>> = []
        for position in 0..<count {
            let key = try object(try reference(position, cursor), depth: depth + 1)
            guard case .string(let key) = key else {
                throw cursor.error(.malformed, "a key that is \(key.typeName), not a string")
            }
            let isNew =
                isSmall
                ? !entries.contains { $0.key.isExactly(key) }
                : keys.insert(Exact(wrappedValue: key)).inserted
            guard isNew else {
                throw cursor.error(.malformed, "the key '\(key.prefix(64))' twice")
            }
            let value = try object(try reference(count + position, cursor), depth: depth + 1)
            entries.append(PropertyList.Entry(key, value))
        }
        return entries
    }

    private func reference(_ position: Int, _ cursor: Cursor) throws(DocumentError) -> Int {
        let place = cursor.offset + position * referenceSize
        guard let reference = unsigned(at: place, size: referenceSize), reference < objectCount
        else { throw cursor.error(.malformed, "a reference to an object that is not there") }
        return reference
    }

    /// Checks that so many entries of a size are in the file, before memory is asked for them.
    private func require(_ count: Int, times size: Int, _ cursor: Cursor) throws(DocumentError) {
        guard count <= (offsetTable - cursor.offset) / size else {
            throw cursor.error(.malformed, "it counts more than the file holds")
        }
    }
}

// Scalars.
extension BinaryPropertyListReader {
    private func scalar(
        _ marker: UInt8, _ cursor: inout Cursor
    ) throws(DocumentError) -> PropertyList {
        switch marker {
        case 0x08: return .boolean(false)
        case 0x09: return .boolean(true)
        case 0x10...0x14: return try integer(size: 1 << (marker & 0xf), cursor)
        case 0x22:
            let bits = UInt32(try bits(size: 4, cursor))
            return .real32(Float(bitPattern: bits))
        case 0x23: return .real(Double(bitPattern: try bits(size: 8, cursor)))
        case 0x33: return .date(Double(bitPattern: try bits(size: 8, cursor)))
        case 0x40...0x4f: return .data(Array(try slice(marker, unit: 1, &cursor)))
        case 0x50...0x5f:
            let slice = try slice(marker, unit: 1, &cursor)
            guard slice.allSatisfy({ $0 < 0x80 }) else {
                throw cursor.error(.malformed, "text that is said to be ASCII and is not")
            }
            return .string(String(decoding: slice, as: UTF8.self))
        case 0x60...0x6f: return .string(try utf16(try slice(marker, unit: 2, &cursor), cursor))
        case 0x80...0x87:
            let size = Int(marker & 0xf) + 1
            guard let value = unsigned(at: cursor.offset, size: size), value <= UInt32.max else {
                throw cursor.error(.malformed, "a reference beyond 32 bits")
            }
            return .uid(value)
        default:
            throw cursor.error(.malformed, "a type of object that property lists do not have")
        }
    }

    /// Those of 8 bytes have a sign and shorter ones do not; 16 bytes hold what is from 2^63 on.
    private func integer(size: Int, _ cursor: Cursor) throws(DocumentError) -> PropertyList {
        guard size == 16 else {
            let bits = try bits(size: size, cursor)
            return size == 8 ? .integer(Int64(bitPattern: bits)) : .whole(bits)
        }
        var second = cursor
        second.offset += 8
        let low = try bits(size: 8, second)
        switch try bits(size: 8, cursor) {
        case 0: return .whole(low)
        case .max where low >> 63 == 1: return .integer(Int64(bitPattern: low))
        default: throw cursor.error(.malformed, "a whole number beyond 64 bits")
        }
    }

    private func bits(size: Int, _ cursor: Cursor) throws(DocumentError) -> UInt64 {
        guard cursor.offset <= offsetTable - size else {
            throw cursor.error(.malformed, "it ends beyond the file's objects")
        }
        return bytes[cursor.offset..<(cursor.offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func slice(
        _ marker: UInt8, unit: Int, _ cursor: inout Cursor
    ) throws(DocumentError) -> ArraySlice<UInt8> {
        let count = try count(of: marker, &cursor)
        guard count <= (offsetTable - cursor.offset) / unit else {
            throw cursor.error(.malformed, "it is longer than the file")
        }
        return bytes[cursor.offset..<(cursor.offset + count * unit)]
    }

    /// The count of an object: in its marker, or as a whole number after it.
    private func count(of marker: UInt8, _ cursor: inout Cursor) throws(DocumentError) -> Int {
        let short = Int(marker & 0xf)
        if short < 0xf { return short }
        guard cursor.offset < offsetTable, (0x10...0x13).contains(bytes[cursor.offset]) else {
            throw cursor.error(.malformed, "a count that is not a whole number")
        }
        let size = 1 << Int(bytes[cursor.offset] & 0xf)
        guard cursor.offset + 1 + size <= offsetTable,
            let count = unsigned(at: cursor.offset + 1, size: size)
        else { throw cursor.error(.malformed, "it counts more than the file holds") }
        cursor.offset += 1 + size
        return count
    }

    private func utf16(
        _ slice: ArraySlice<UInt8>, _ cursor: Cursor
    ) throws(DocumentError) -> String {
        let units = stride(from: slice.startIndex, to: slice.endIndex, by: 2).map {
            UInt16(slice[$0]) << 8 | UInt16(slice[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw cursor.error(.malformed, "text that is not UTF-16")
        }
        return text
    }
}
