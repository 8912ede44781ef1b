extension PropertyList {
    /// Reads a property list, binary or XML. Texts in the old style of OpenStep are refused.
    public static func read(_ bytes: [UInt8]) throws(DocumentError) -> PropertyList {
        guard bytes.count <= Limits.propertyListBytes else {
            throw DocumentError(
                .tooLarge,
                "\(bytes.count) bytes, of which at most \(Limits.propertyListBytes) are read")
        }
        if bytes.starts(with: BinaryPropertyListReader.magic) {
            var reader = BinaryPropertyListReader(bytes)
            return try reader.document()
        }
        let encoding = try XMLEncoding(of: bytes)
        let text = try encoding.utf8(bytes)
        guard isXML(text) else {
            throw DocumentError(.otherFormat, "not a property list, neither binary nor XML")
        }
        var reader = XMLPropertyListReader(text)
        do {
            return try reader.document()
        } catch {
            guard case .byte(let offset) = error.place else { throw error }
            let place = DocumentError.Place.byte(
                encoding.offset(of: offset, inUTF8: text, of: bytes))
            throw DocumentError(error.kind, at: place, error.reason)
        }
    }

    /// The bytes of a binary property list, the same for the same value.
    public func binary() throws(DocumentError) -> [UInt8] {
        try BinaryPropertyListWriter.bytes(of: self)
    }

    private static func isXML(_ bytes: [UInt8]) -> Bool {
        bytes.withoutByteOrderMark.first { !$0.isBlank } == UInt8(ascii: "<")
    }
}
