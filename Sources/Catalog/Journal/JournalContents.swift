internal import Glibc
package import Model
internal import SystemCalls

/// What can be read of the two files of a ``Journal``. Pure.
package struct JournalContents {
    /// What one file holds: records that follow one another, and what stands behind them.
    package struct File {
        /// How far behind a record that cannot be read later ones are looked for, and how long those
        /// may be, in bytes: most places are told by the length at a glance.
        private static let reach = 256 << 10

        /// Where it is.
        package let path: String
        /// Its whole records, up to the first place where one is missing or torn.
        let records: [Mutation]
        /// Where the last of them ends, in bytes.
        package let end: Int
        /// What stands behind the end, as far as it may be looked at.
        private let tail: [UInt8]

        init(path: String, bytes: [UInt8]) {
            var records: [Mutation] = []
            var end = 0
            while let (mutation, next) = Self.record(in: bytes, at: end),
                records.isEmpty || mutation.sequence == records[records.count - 1].sequence + 1
            {
                records.append(mutation)
                end = next
            }
            self.path = path
            self.records = records
            self.end = end
            tail = Array(bytes[end...].prefix(2 * Self.reach + 8))
        }

        /// Whether a record later than `last` stands behind the end.
        fileprivate func goesOn(after last: ChangeSequence) -> Bool {
            tail.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, bytes.count > 8 else { return false }
                // Mostly nothing was ever written there.
                if bytes[0] == 0, memcmp(start, start + 1, bytes.count - 1) == 0 { return false }
                var offset = 0
                while offset < min(Self.reach, bytes.count - 8) {
                    // The length begins a record; most places are told by it at a glance.
                    if bytes[offset + 3] == 0,
                        bytes[offset] | bytes[offset + 1] | bytes[offset + 2] != 0,
                        let found = Self.record(in: tail, at: offset, limit: Self.reach),
                        found.mutation.sequence > last
                    {
                        return true
                    }
                    offset += 1
                }
                return false
            }
        }

        /// The whole record of at most `limit` bytes that stands at a place, and where it ends.
        private static func record(
            in bytes: [UInt8], at offset: Int, limit: Int = .max
        ) -> (mutation: Mutation, end: Int)? {
            guard offset + 8 <= bytes.count else { return nil }
            let length = Int(word(bytes, offset))
            guard length > 0, length <= min(limit, bytes.count - offset - 8) else { return nil }
            let end = offset + 8 + length
            let payload = bytes[offset + 8..<end]
            guard payload.withUnsafeBytes(CRC32.of) == word(bytes, offset + 4),
                let mutation = try? MutationCoding.decode(payload)
            else { return nil }
            return (mutation, end)
        }

        private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32($1 * 8) }
        }
    }

    /// All whole records, in order.
    package let records: [Mutation]
    private let files: [File]

    init(files: [File]) {
        let lists = files.map(\.records).filter { !$0.isEmpty }
            .sorted { $0[0].sequence < $1[0].sequence }
        var all: [Mutation] = []
        for list in lists {
            if let last = all.last, list[0].sequence != last.sequence + 1 {
                // The older file ends before the newer begins only if its records are long applied.
                all = []
            }
            all += list
        }
        records = all
        self.files = files
    }

    /// The file in which a record later than `last`, the last that can be read, stands behind one that
    /// cannot: something was damaged at its end. Records are written in order, so that a crash leaves
    /// none.
    package func damaged(after last: ChangeSequence) -> File? {
        files.first { $0.goesOn(after: last) }
    }
}
