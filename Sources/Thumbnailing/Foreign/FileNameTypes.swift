internal import Glibc
internal import SystemCalls

/// The MIME types that names of files tell, after the shared MIME database (globs2 and aliases).
package struct FileNameTypes: Sendable {
    /// No such file is larger.
    private static let fileBytes = 4 << 20

    private struct Glob {
        var weight: Int
        var type: String
        var pattern: String
        var isCaseSensitive: Bool
    }

    /// Patterns that are `*.end`, by their end in lower case; those are nearly all.
    private var ends: [String: [Glob]] = [:]
    private var others: [Glob] = []
    private var aliases: [String: String] = [:]
    /// What was lacking to read all of them, for the moment; nil if nothing was.
    private(set) var shortage: Errno?

    /// The types of the folders with shared data, those that count most first.
    package init(folders: [String]) {
        var dropped: Set<String> = []
        for folder in folders {
            let globs = folder + "/mime/globs2"
            if let text = SharedData.text(of: globs, limit: Self.fileBytes, &shortage) {
                dropped.formUnion(add(globs: text, without: dropped))
            }
            let names = folder + "/mime/aliases"
            guard let text = SharedData.text(of: names, limit: Self.fileBytes, &shortage)
            else { continue }
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ")
                if parts.count == 2, aliases[String(parts[0])] == nil {
                    aliases[String(parts[0])] = String(parts[1])
                }
            }
        }
    }

    /// Adds the lines of a globs2 file; the types whose patterns in later folders do not count.
    private mutating func add(globs text: String, without dropped: Set<String>) -> Set<String> {
        var last: Set<String> = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 3)
            guard parts.count >= 3, let weight = Int(parts[0]) else { continue }
            let (type, pattern) = (String(parts[1]), String(parts[2]))
            if pattern == "__NOGLOBS__" {
                last.insert(type)
                continue
            }
            guard !dropped.contains(type) else { continue }
            let glob = Glob(
                weight: weight, type: type, pattern: pattern,
                isCaseSensitive: parts.count > 3 && parts[3].split(separator: ",").contains("cs"))
            if pattern.hasPrefix("*."),
                !pattern.dropFirst(2).contains(where: { "*?[".contains($0) })
            {
                ends[pattern.dropFirst().lowercased(), default: []].append(glob)
            } else {
                others.append(glob)
            }
        }
        return last
    }

    /// The types of a file by its name: those of the heaviest and then longest patterns.
    package func types(ofFileName name: String) -> [String] {
        let lower = name.lowercased()
        var matches = others.filter { Self.matches($0, name, lower) }
        for index in lower.indices where lower[index] == "." {
            for glob in ends[String(lower[index...])] ?? [] where Self.matches(glob, name, lower) {
                matches.append(glob)
            }
        }
        guard let weight = matches.map(\.weight).max() else { return [] }
        matches.removeAll { $0.weight != weight }
        let length = matches.map(\.pattern.utf8.count).max()
        var types: [String] = []
        for glob in matches where glob.pattern.utf8.count == length && !types.contains(glob.type) {
            types.append(glob.type)
        }
        return types
    }

    /// The name that a type has in the database.
    func canonical(_ type: String) -> String { aliases[type] ?? type }

    private static func matches(_ glob: Glob, _ name: String, _ lower: String) -> Bool {
        fnmatch(glob.pattern, name, 0) == 0
            || !glob.isCaseSensitive && fnmatch(glob.pattern.lowercased(), lower, 0) == 0
    }
}
