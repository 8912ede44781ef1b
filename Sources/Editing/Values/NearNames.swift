/// Finds the name somebody probably meant.
package enum NearNames {
    /// How many names are listed at most: all verbs are.
    private static let listed = 24

    /// The sentence for a name that is not known: the nearest one, or all if there are few.
    static func unknown(_ noun: String, _ name: String, among names: [String]) -> String {
        let shown = "unknown \(noun) '\(name.prefix(64))'"
        if let near = nearest(to: name, among: names) { return "\(shown); did you mean '\(near)'?" }
        if names.isEmpty { return "\(shown); there are none" }
        let some = names.prefix(listed).joined(separator: ", ")
        return "\(shown); known are \(some)\(names.count > listed ? ", ..." : "")"
    }

    /// The nearest name that differs by few letters; nil if none does.
    package static func nearest(to name: String, among names: [String]) -> String? {
        let word = Array(name.lowercased().unicodeScalars.prefix(65))
        guard !word.isEmpty, word.count <= 64 else { return nil }
        let allowed = word.count < 3 ? word.count - 1 : word.count / 3
        var best: (name: String, distance: Int)?
        for candidate in names.prefix(10_000) {
            let other = Array(candidate.lowercased().unicodeScalars.prefix(65))
            guard abs(other.count - word.count) <= allowed else { continue }
            let distance = distance(word, other)
            if distance <= allowed, distance < (best?.distance ?? .max) {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    /// How many letters must be put in, left out, changed or swapped with the next.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var older: [Int] = []
        var old = Array(0...right.count)
        for row in 0..<left.count {
            var new = [row + 1]
            for column in 0..<right.count {
                let isSame = left[row] == right[column]
                var cost = min(old[column] + (isSame ? 0 : 1), old[column + 1] + 1, new[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    cost = min(cost, older[column - 1] + 1)
                }
                new.append(cost)
            }
            (older, old) = (old, new)
        }
        return old[right.count]
    }
}
