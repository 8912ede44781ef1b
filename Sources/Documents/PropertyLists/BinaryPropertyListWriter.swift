/// Writes binary property lists as Apple's writer does: objects in depth-first order, a
/// dictionary's keys before its values, numbers in as few bytes as they need.
struct BinaryPropertyListWriter {
    private enum Object {
        case scalar(PropertyList)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    /// Scalars that are the same to the bit; `==` would make one of 0 and -0, and of strings that
    /// are canonically equivalent.
    private struct ScalarKey: Hashable {
        var type: UInt8
        var bits: UInt64 = 0
        var text: [UInt8] = []
    }

    private let sharesString: (String) -> Bool
    private let repeatsConstants: Bool
    private var objects: [Object] = []
    private var shared: [ScalarKey: Int] = [:]
    private var output = BinaryPropertyListReader.magic

    /// The bytes of a property list; an error if they would be more than are read back.
    ///
    /// Equal numbers are written once. `sharesString` says of which strings that holds too: other
    /// writers go by more than equality. With `repeatsConstants`, a boolean or a reference of an
    /// archive that was there before is written again, and nothing refers to the second one.
    static func bytes(
        of root: PropertyList, sharesString: (String) -> Bool = { _ in true },
        repeatsConstants: Bool = false
    ) throws(DocumentError) -> [UInt8] {
        let bytes = withoutActuallyEscaping(sharesString) { sharesString in
            var writer = BinaryPropertyListWriter(
                sharesString: sharesString, repeatsConstants: repeatsConstants)
            _ = writer.flatten(root)
            return writer.encoded()
        }
        guard let bytes else {
            throw DocumentError(.tooLarge, "more than \(Limits.propertyListBytes) bytes")
        }
        return bytes
    }

    private init(sharesString: @escaping (String) -> Bool, repeatsConstants: Bool) {
        self.sharesString = sharesString
        self.repeatsConstants = repeatsConstants
    }

    private mutating func flatten(_ value: PropertyList) -> Int {
        switch value {
        case .array(let elements):
            let index = append(.array([]))
            objects[index] = .array(elements.map { flatten($0) })
            return index
        case .dictionary(let entries):
            let index = append(.dictionary(keys: [], values: []))
            let keys = entries.map { flatten(.string($0.key)) }
            let values = entries.map { flatten($0.value) }
            objects[index] = .dictionary(keys: keys, values: values)
            return index
        default:
            guard let key = key(of: value) else { return append(.scalar(value)) }
            if let index = shared[key] {
                if repeatsConstants, isConstant(value) { _ = append(.scalar(value)) }
                return index
            }
            let index = append(.scalar(value))
            shared[key] = index
            return index
        }
    }

    private mutating func append(_ object: Object) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    private func isConstant(_ value: PropertyList) -> Bool {
        switch value {
        case .boolean, .uid: true
        default: false
        }
    }

    /// What equal scalars have in common; nil for those that are written anew every time.
    private func key(of value: PropertyList) -> ScalarKey? {
        switch value {
        case .boolean(let flag): ScalarKey(type: 0, bits: flag ? 1 : 0)
        case .integer(let number): ScalarKey(type: 1, bits: UInt64(bitPattern: number))
        case .unsigned(let number): ScalarKey(type: 7, bits: number)
        case .real(let number): ScalarKey(type: 2, bits: number.bitPattern)
        case .real32(let number): ScalarKey(type: 3, bits: UInt64(number.bitPattern))
        case .date(let seconds): ScalarKey(type: 4, bits: seconds.bitPattern)
        case .uid(let number): ScalarKey(type: 5, bits: UInt64(number))
        case .string(let text):
            sharesString(text) ? ScalarKey(type: 6, text: Array(text.utf8)) : nil
        case .data, .array, .dictionary: nil
        }
    }
}

// Bytes.
extension BinaryPropertyListWriter {
    /// The bytes of the flattened objects; nil if they are more than are read back.
    private mutating func encoded() -> [UInt8]? {
        let referenceSize = Self.size(of: UInt64(objects.count))
        var offsets: [Int] = []
        for object in objects {
            offsets.append(output.count)
            switch object {
            case .scalar(let value): scalar(value)
            case .array(let elements):
                marker(0xa0, count: elements.count)
                for element in elements { number(UInt64(element), size: referenceSize) }
            case .dictionary(let keys, let values):
                marker(0xd0, count: keys.count)
                for entry in keys + values { number(UInt64(entry), size: referenceSize) }
            }
            guard output.count <= Limits.propertyListBytes else { return nil }
        }
        let table = output.count
        let offsetSize = Self.size(of: UInt64(table))
        for offset in offsets { number(UInt64(offset), size: offsetSize) }
        output += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for value in [objects.count, 0, table] { number(UInt64(value), size: 8) }
        return output.count <= Limits.propertyListBytes ? output : nil
    }

    private mutating func scalar(_ value: PropertyList) {
        switch value {
        case .boolean(let flag): output.append(flag ? 0x09 : 0x08)
        case .integer(let value):
            let bits = UInt64(bitPattern: value)
            let size = value < 0 ? 8 : Self.size(of: bits)
            output.append(0x10 | UInt8(size.trailingZeroBitCount))
            number(bits, size: size)
        case .unsigned(let value):
            // Eight bytes have a sign, so 16 are the fewest that hold it.
            output.append(0x14)
            number(0, size: 8)
            number(value, size: 8)
        case .real(let value):
            output.append(0x23)
            number(value.bitPattern, size: 8)
        case .real32(let value):
            output.append(0x22)
            number(UInt64(value.bitPattern), size: 4)
        case .date(let seconds):
            output.append(0x33)
            number(seconds.bitPattern, size: 8)
        case .data(let bytes):
            marker(0x40, count: bytes.count)
            output += bytes
        case .string(let text): string(text)
        case .uid(let value):
            let size = Self.size(of: UInt64(value))
            output.append(0x80 | UInt8(size - 1))
            number(UInt64(value), size: size)
        case .array, .dictionary: break
        }
    }

    private mutating func string(_ text: String) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            marker(0x50, count: text.utf8.count)
            output += text.utf8
        } else {
            marker(0x60, count: text.utf16.count)
            for unit in text.utf16 { number(UInt64(unit), size: 2) }
        }
    }

    private mutating func marker(_ type: UInt8, count: Int) {
        if count < 0xf {
            output.append(type | UInt8(count))
        } else {
            output.append(type | 0xf)
            scalar(.integer(Int64(count)))
        }
    }

    private mutating func number(_ value: UInt64, size: Int) {
        for index in (0..<size).reversed() {
            output.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
        }
    }

    /// The fewest bytes, of 1, 2, 4 and 8, that hold a number.
    private static func size(of value: UInt64) -> Int {
        switch value {
        case 0...0xff: 1
        case 0...0xffff: 2
        case 0...0xffff_ffff: 4
        default: 8
        }
    }
}
