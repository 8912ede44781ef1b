/// A pattern of names: with `*` (any characters) or `?` (one character) for all of a name, else for a
/// part of it; upper and lower case are the same.
package struct NamePattern {
    private let pattern: [Character]
    private let isWhole: Bool

    package init(_ text: String) {
        pattern = Array(text.lowercased())
        isWhole = pattern.contains("*") || pattern.contains("?")
    }

    package func matches(_ name: String) -> Bool {
        let name = Array(name.lowercased())
        return isWhole ? matchesAll(name) : pattern.isEmpty || contains(name)
    }

    private func contains(_ name: [Character]) -> Bool {
        guard name.count >= pattern.count else { return false }
        return (0...name.count - pattern.count).contains { start in
            name[start..<start + pattern.count].elementsEqual(pattern)
        }
    }

    /// Goes back to the last star only, so it takes at most the product of both lengths.
    private func matchesAll(_ name: [Character]) -> Bool {
        var (place, next) = (0, 0)
        var star: (pattern: Int, name: Int)?
        while place < name.count {
            if next < pattern.count, pattern[next] == "*" {
                star = (next, place)
                next += 1
            } else if next < pattern.count, pattern[next] == "?" || pattern[next] == name[place] {
                (place, next) = (place + 1, next + 1)
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                (place, next) = (last.name + 1, last.pattern + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == "*" }
    }
}
