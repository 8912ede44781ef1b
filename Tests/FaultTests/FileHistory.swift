import Glibc
import Probing

/// What a file may look like from outside.
enum FileState: Hashable {
    /// There is no such file.
    case absent
    /// It is there, but its first version was never acknowledged.
    case empty
    /// It holds this version and nothing else.
    case version(Int)
}

/// Everything a writer did with one file since it was last looked at.
struct FileHistory {
    /// What the writer tried, in its order; the last may have been interrupted.
    private var attempts: [FileState] = [.absent]
    /// The newest attempt that the file system has acknowledged.
    private var acknowledged = 0
    /// The newest that counts, if that is fixed.
    private var frozen: Int?

    /// The versions of the file that was removed, or lost, before the present beginning: a file that
    /// soon takes its name is the same document.
    private var before: [Int] = []

    /// Notes what is about to be done.
    mutating func willBecome(_ state: FileState) {
        attempts.append(state)
    }

    /// Notes that the last attempt has been acknowledged.
    mutating func hasBecomeSo() {
        acknowledged = attempts.count - 1
    }

    /// Forgets acknowledgements from here on: what is found later is from this moment.
    mutating func freeze() {
        frozen = frozen ?? acknowledged
    }

    /// Compares with what was found (nil for no file): nil if that is possible, else what is
    /// wrong. What was found is the new beginning. After a power loss a file that was made anew may
    /// be what its document was before.
    mutating func judge(_ found: [UInt8]?, file: FileName, afterPowerLoss: Bool) -> String? {
        let states = attempts[(frozen ?? acknowledged)...]
        frozen = nil
        let isAsTried = { (state: FileState) in
            switch state {
            // A file whose making was not acknowledged may be there, empty.
            case .absent: found.map(\.isEmpty) ?? true
            case .empty: found == []
            case .version(let version): found == file.content(version: version)
            }
        }
        if let match = states.last(where: isAsTried) {
            begin(with: match)
            return nil
        }
        // A file that is new is empty until its first version is published.
        let mayBeNew = states.dropLast().contains(.absent) || states.first == .absent
        if found == [], mayBeNew, states.count > 1 {
            begin(with: .empty)
            return nil
        }
        // Not below what was acknowledged since.
        if afterPowerLoss, states.first == .absent || states.first == .empty,
            let version = before.last(where: { isAsTried(.version($0)) })
        {
            begin(with: .version(version))
            return nil
        }
        let wanted = states.map { "\($0)" }.joined(separator: " or ")
        return "\(file): expected \(wanted), found \(file.describe(found))"
    }

    private mutating func begin(with state: FileState) {
        let versions = attempts.compactMap {
            if case .version(let version) = $0 { version } else { nil }
        }
        if case .version = state { before = [] } else { before += versions }
        attempts = [state]
        acknowledged = 0
    }
}

/// A file of one writer and what its versions contain: 1 byte to 300 KiB, no block of which can
/// pass for one of another version or place.
struct FileName: Hashable, CustomStringConvertible {
    /// The writer's number.
    let writer: Int
    /// The file's number among the writer's.
    let number: Int

    /// The name in the directory.
    var description: String { "w\(writer)-\(number)" }

    /// The bytes of a version.
    func content(version: Int) -> [UInt8] {
        var random = SplitMix(seed: UInt64(writer << 48 | number << 32 | version))
        // As many small files as large ones.
        let size = 1 + min(300 << 10, random.below(2 << random.below(19)))
        // Of no length that divides a block.
        let line = Array("\(Self.digits(version)) \(self) v\(version)\n".utf8)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            memcpy(start, line, min(size, line.count))
            count = min(size, line.count)
            while count < size {
                let more = min(count / line.count * line.count, size - count)
                memcpy(start + count, start, more)
                count += more
            }
        }
    }

    /// What a content that belongs to no allowed version looks like.
    func describe(_ found: [UInt8]?) -> String {
        guard let found else { return "no file" }
        let beginning = String(decoding: found.prefix(24), as: UTF8.self)
        var described = "\(found.count) bytes: \(beginning.debugDescription)"
        let lines = Set(found.split(separator: 10).map { String(decoding: $0, as: UTF8.self) })
        if lines.count > 2 { described += ", \(lines.count) different lines: a mixture" }
        if found.contains(0) { described += ", with zero bytes" }
        return described
    }

    /// A version's own beginning, so that even its first byte says something of it.
    private static func digits(_ version: Int) -> String {
        String(version &* 2_654_435_761 % 46_656, radix: 36)
    }
}
