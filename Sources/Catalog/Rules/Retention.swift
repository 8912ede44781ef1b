package import Model

/// Which earlier versions of documents are kept. Pure: the caller drops what these functions name.
///
/// The current version, the last of a document's, always stays. While it is not known to be on the
/// disk, the last version that is stays too: recovery needs it if the power goes. On the disk is what
/// is sealed or was synchronized by itself, and what was published before the disk was last
/// synchronized as a whole.
package enum Retention {
    /// Programs save in steps (write, then fix up): what was replaced so soon was never looked at.
    static let sameSaveSeconds: Double = 2
    /// Everything of the last hour stays: one may want to go back to any state of the work at hand.
    static let hour: Double = 3_600
    /// The last version of each hour stays for a day ...
    static let day: Double = 24 * hour
    /// ... and the last of each day for a month; nobody remembers what was older, and backups are
    /// for that.
    static let month: Double = 30 * day

    /// The versions of one document that its age rule drops, oldest first.
    ///
    /// `versions` are all of the document's, oldest first, the last one current. Thinning after
    /// every save or once in a while comes to the same. Hours and days are those of UTC. What is
    /// `pinned` stays. What is to be kept `apart` is no step of the save that replaced it, however
    /// soon that was; it ages as others do. What was published before `durableUntil` is on the disk.
    package static func superfluous(
        _ versions: [VersionRow], keeping pinned: Set<NodeNumber> = [],
        apart: Set<NodeNumber> = [], durableUntil: Timestamp = Timestamp(rawValue: 0),
        now: Timestamp
    ) -> [VersionRow] {
        let safe = mustStay(versions, durableUntil)
        var dropped: [VersionRow] = []
        for (index, version) in versions.enumerated()
        where !safe.contains(index) && !pinned.contains(version.node) {
            let next = versions[index + 1].published
            let isOwnSave = apart.contains(version.node)
            if isSuperfluous(version.published, isOwnSave: isOwnSave, next: next, now: now) {
                dropped.append(version)
            }
        }
        return dropped
    }

    /// What else has to be dropped so that the earlier versions of all documents take at most
    /// `budget` bytes of the disk, in the order in which to drop it.
    ///
    /// `documents` are the versions of each document, oldest first, the last one current; only
    /// documents with earlier versions matter. The document whose earlier versions take most loses
    /// its oldest first, again and again. The newest earlier version of each goes only when there
    /// would not be room for all of these alone, largest first: what is too large must not take
    /// along the histories of others. What recovery needs, and what is `pinned`, stays even if the
    /// budget is exceeded. What was published before `durableUntil` is on the disk.
    package static func exceeding(
        _ documents: [[VersionRow]], keeping pinned: Set<NodeNumber> = [],
        durableUntil: Timestamp = Timestamp(rawValue: 0), budget: Int64
    ) -> [VersionRow] {
        var thinned: [Candidate] = []
        var newest: [Candidate] = []
        var total: Int64 = 0
        for (document, versions) in documents.enumerated() {
            let safe = mustStay(versions, durableUntil)
            var bytes: Int64 = 0
            for (index, version) in versions.enumerated().dropLast().reversed() {
                bytes += version.bytesHere
                // Dropping what has no bytes gains nothing.
                if safe.contains(index) || version.bytesHere == 0 || pinned.contains(version.node) {
                    continue
                }
                let candidate = Candidate(document: document, bytes: bytes, version: version)
                if index == versions.count - 2 {
                    newest.append(candidate)
                } else {
                    thinned.append(candidate)
                }
            }
            total += bytes
        }
        // The bytes only shrink from a document's oldest version to its newest, so one sorting does
        // what looking for the largest document after every drop would.
        thinned.sort(by: isBefore)
        newest.sort(by: isBefore)
        var least = thinned.reduce(total) { $0 - $1.version.bytesHere }
        var tooLarge: Set<Int> = []
        for candidate in newest where least > budget {
            tooLarge.insert(candidate.document)
            least -= candidate.version.bytesHere
        }
        let first = (thinned + newest).filter { tooLarge.contains($0.document) }
        total = first.reduce(total) { $0 - $1.version.bytesHere }
        var dropped = first.map(\.version)
        for candidate in thinned where total > budget && !tooLarge.contains(candidate.document) {
            dropped.append(candidate.version)
            total -= candidate.version.bytesHere
        }
        return dropped
    }

    /// A version that may go, and the bytes that the document's earlier versions take while it is there.
    private struct Candidate {
        var document: Int
        var bytes: Int64
        var version: VersionRow
    }

    /// Bytes that these take of the disk together.
    package static func bytesHere(_ versions: some Sequence<VersionRow>) -> Int64 {
        versions.reduce(0) { $0 + $1.bytesHere }
    }

    /// The indices of the current version and, while that may not be on the disk, of the last one that
    /// is: what recovery takes for whole after a power loss.
    private static func mustStay(_ versions: [VersionRow], _ durableUntil: Timestamp) -> Set<Int> {
        guard let current = versions.last else { return [] }
        let isDurable = { (version: VersionRow) in
            version.place != .staged || version.published < durableUntil
        }
        var indices: Set = [versions.count - 1]
        if !isDurable(current), let durable = versions.lastIndex(where: isDurable) {
            indices.insert(durable)
        }
        return indices
    }

    private static func isSuperfluous(
        _ published: Timestamp, isOwnSave: Bool, next: Timestamp, now: Timestamp
    ) -> Bool {
        let isLastOfHour = bucket(published, hour) != bucket(next, hour)
        // Hours bound this, lest a program that saves every second all day leaves one version.
        let isSameSave = !isOwnSave && next.secondsSince(published) <= sameSaveSeconds
        if isSameSave, !isLastOfHour { return true }
        let age = now.secondsSince(published)
        if age < hour { return false }
        if age < day { return !isLastOfHour }
        if age < month { return bucket(published, day) == bucket(next, day) }
        return true
    }

    /// Which hour or day a moment lies in.
    private static func bucket(_ moment: Timestamp, _ seconds: Double) -> Int64 {
        let length = Int64(seconds)
        return (moment.seconds - (moment.seconds % length + length) % length) / length
    }

    private static func isBefore(_ one: Candidate, _ other: Candidate) -> Bool {
        if one.bytes != other.bytes { return one.bytes > other.bytes }
        return one.version.published < other.version.published
    }
}

extension VersionRow {
    /// Bytes that the content takes of the disk here, without its holes; none if it is elsewhere.
    fileprivate var bytesHere: Int64 {
        if place.isAway { return 0 }
        // What a damaged catalog counts may be beyond all sums.
        let size = min(max(size, 0), Self.largestSize)
        return max(blocks, 0) > size / 512 ? size : max(blocks, 0) * 512
    }
}
