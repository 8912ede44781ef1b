/// A text of which every byte counts, so that two are equal only where they are written alike.
///
/// `String` takes texts for equal that are composed otherwise (`é` as one scalar or as two): whoever
/// changes a document from one to the other would have changed nothing.
@propertyWrapper
public struct Exact<Text: ExactlyComparable>: Hashable, Sendable {
    /// The text.
    public var wrappedValue: Text

    /// A text.
    public init(wrappedValue: Text) { self.wrappedValue = wrappedValue }

    /// Whether both have the same bytes.
    public static func == (left: Exact, right: Exact) -> Bool {
        left.wrappedValue.isExactly(right.wrappedValue)
    }

    /// Hashes the bytes: a file can hold very many texts that only their bytes tell apart.
    public func hash(into hasher: inout Hasher) { wrappedValue.hashExactly(into: &hasher) }
}

/// What can be compared byte by byte.
public protocol ExactlyComparable: Hashable, Sendable {
    /// Whether both have the same bytes.
    func isExactly(_ other: Self) -> Bool
    /// Hashes the bytes.
    func hashExactly(into hasher: inout Hasher)
}

extension String: ExactlyComparable {
    /// Whether both have the same bytes as UTF-8.
    public func isExactly(_ other: String) -> Bool {
        // Not `==`, which composes both to compare them.
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { left.elementsEqual($0) }
        }
        return isSame.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }

    /// Hashes the bytes as UTF-8.
    public func hashExactly(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // So that texts one after the other are told from others of the same bytes.
        hasher.combine(0xFF as UInt8)
    }
}

extension Optional: ExactlyComparable where Wrapped: ExactlyComparable {
    /// Whether both have the same bytes, or there is neither.
    public func isExactly(_ other: Wrapped?) -> Bool {
        switch (self, other) {
        case (let left?, let right?): left.isExactly(right)
        case (nil, nil): true
        default: false
        }
    }

    /// Hashes the bytes, if there is a text.
    public func hashExactly(into hasher: inout Hasher) {
        hasher.combine(self != nil)
        self?.hashExactly(into: &hasher)
    }
}
