import TestSupport
import Testing

/// Searches for words with `shapeedit find`.
enum WordSearch {
    /// What a search says that has waited in vain.
    static let hurry = "some may be missing: documents are still being read"

    /// The paths of what is found, below the desk.
    static func found(_ desk: Desk, _ words: String...) throws -> [String] {
        try found(desk, words)
    }

    static func found(_ desk: Desk, _ words: [String]) throws -> [String] {
        let result = try desk.shapeedit(["find"] + words)
        let isExpected = result.errorText.isEmpty || result.errorText.contains(hurry)
        #expect(result.status == 0 && isExpected, "\(words): \(result)")
        return result.text.split(separator: "\n").map {
            String($0.dropFirst(desk.folder.count + 1))
        }
    }

    /// Expects that this is found after documents were written. A search that has waited its two
    /// seconds for words in vain goes without them, and is made again.
    static func find(
        _ desk: Desk, _ words: String..., expecting expected: [String],
        at location: SourceLocation = #_sourceLocation
    ) throws {
        try look(for: expected, at: location) { try found(desk, words) }
    }

    /// Expects that a search finds this; it is made again when it has waited its two seconds.
    static func look<Found: Equatable>(
        for expected: Found, at location: SourceLocation = #_sourceLocation,
        _ search: () throws -> Found
    ) throws {
        for _ in 0..<15 {
            let start = ContinuousClock.now
            let found = try search()
            if found == expected { return }
            guard ContinuousClock.now - start < .milliseconds(1_900) else { continue }
            #expect(found == expected, sourceLocation: location)
            return
        }
        Issue.record("\(expected) is not found", sourceLocation: location)
    }
}
