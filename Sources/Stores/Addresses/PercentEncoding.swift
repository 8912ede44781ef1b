internal import Model

/// Percent-encoding of RFC 3986.
enum PercentEncoding {
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }

    /// Encodes everything but letters, digits and `-._~`, as Signature Version 4 wants it.
    ///
    /// - Parameter keepingSlashes: for a path, not for a part of one or a query.
    static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
        encode(text.utf8, keepingSlashes: keepingSlashes)
    }

    /// The same of bytes, which need not be text.
    static func encode(_ bytes: some Sequence<UInt8>, keepingSlashes: Bool = false) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if isUnreserved(byte) || keepingSlashes && byte == 0x2f {
                result.append(byte)
            } else {
                result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// A URL, or a part of one, in which what none can hold is encoded and all else is as it was.
    static func encodingOthers(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { (0x21...0x7e).contains($0) ? String(UnicodeScalar($0)) : encode([$0]) }.joined()
    }

    /// Undoes it; `nil` if a `%` is not followed by two digits or the result is not UTF-8.
    static func decode(_ text: some StringProtocol) -> String? {
        decodedBytes(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Undoes it where it was not done well: a `%` that is not followed by two digits stands for itself.
    static func decodedLoosely(_ text: some Sequence<UInt8>) -> [UInt8] {
        decoded(text, otherwise: [0x25]) ?? []
    }

    /// Undoes it; `nil` if a `%` is not followed by two digits.
    static func decodedBytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decoded(text, otherwise: nil)
    }

    /// - Parameter sign: what a `%` stands for that is not followed by two digits; nothing does if nil.
    private static func decoded(
        _ text: some Sequence<UInt8>, otherwise sign: [UInt8]?
    ) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                result.append(byte)
                continue
            }
            guard let value = Hexadecimal.bytes(rest.prefix(2)), value.count == 1 else {
                guard let sign else { return nil }
                result += sign
                continue
            }
            result += value
            rest = rest.dropFirst(2)
        }
        return result
    }
}
