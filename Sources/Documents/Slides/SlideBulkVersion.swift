extension SlideBulkFile {
    /// A version of a bulk file: decimal numbers with points between them, such as `2` or `1.10`.
    /// Each number counts for itself, so 1.10 is higher than 1.9; `2` and `2.0` are the same.
    public struct Version: Comparable, Hashable, Sendable, CustomStringConvertible {
        /// The digits of the numbers, without zeros before them and without zeros at the end: a number
        /// may be larger than any integer.
        private let numbers: [String]
        /// The key in the file.
        public let description: String

        /// The version of a key; nil if it is none.
        public init?(_ key: String) {
            var numbers: [String] = []
            for word in key.utf8.split(
                separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            {
                guard !word.isEmpty, word.allSatisfy({ (48...57).contains($0) }) else { return nil }
                numbers.append(String(Substring(word.drop { $0 == 48 })))
            }
            while numbers.last == "" { numbers.removeLast() }
            self.numbers = numbers
            description = key
        }

        /// Whether both count the same.
        public static func == (left: Version, right: Version) -> Bool {
            left.numbers == right.numbers
        }

        /// Whether the left one is lower.
        public static func < (left: Version, right: Version) -> Bool {
            left.numbers.lexicographicallyPrecedes(right.numbers) {
                ($0.utf8.count, $0) < ($1.utf8.count, $1)
            }
        }

        /// Hashes what counts.
        public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
    }
}
