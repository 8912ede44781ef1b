import Glibc
import Probing
import TestSupport
import Testing

/// `shapeedit find` with all its filters against a simple model, over random trees of odd names.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct FindSweepTests {
    @Test func `all filters and orders find what a simple model finds`() throws {
        var random = SplitMix(seed: Seed.next("find sweep"))
        var hits = 0
        for round in 0..<3 {
            try withDesk(DataPath.mounts[0], store: "folder") { desk in
                var tree = try FoundTree(in: desk, &random)
                if round > 0 { try tree.evict(in: desk, &random) }
                for number in 0..<70 {
                    let query = NaiveQuery(tree, &random)
                    let wanted = tree.found(query)
                    hits += wanted.isEmpty ? 0 : 1
                    var found: [[UInt8]] = []
                    // Words are taken from documents in the background.
                    for _ in 0..<(query.words == nil ? 1 : 40) {
                        found = try desk.run(bytes: query.arguments(in: desk.folder)).bytes
                            .split(separator: 0).map {
                                Array($0.dropFirst(desk.folder.utf8.count + 1))
                            }
                        if found == wanted { break }
                        usleep(250_000)
                    }
                    #expect(
                        found == wanted,
                        """
                        \(number): \(query.arguments(in: desk.folder).dropFirst()): \
                        \(found.map(ByteString.init)) instead of \(wanted.map(ByteString.init))
                        """)
                    if found != wanted { return }
                }
            }
        }
        #expect(hits > 20)
    }
}

/// What one search asks for.
private struct NaiveQuery {
    enum Kind: String, CaseIterable { case documents, folders, all }
    enum Order: String, CaseIterable { case path, name, size, modified, type }

    var folder: [UInt8] = []
    var name: String?
    var types: [String] = []
    var kind: Kind?
    var smallest: Int?
    var largest: Int?
    var oldest: Int?
    var newest: Int?
    var tag: String?
    var words: [String]?
    var isPhrase = false
    var isHidden = false
    /// Only promises, or none.
    var promises: Bool?
    var order: Order?
    var isReversed = false
    var limit: Int?

    init(_ tree: FoundTree, _ random: inout SplitMix) {
        if random.chance(30) { folder = tree.folders[random.below(tree.folders.count)] }
        if random.chance(40) { name = FoundTree.pattern(&random) }
        if random.chance(20) {
            types = (0...random.below(2)).map { _ in
                FoundTree.ends[random.below(FoundTree.ends.count)]
            }
        }
        if random.chance(50) { kind = Kind.allCases[random.below(3)] }
        if random.chance(15) { smallest = random.below(60) }
        if random.chance(15) { largest = random.below(60) }
        if random.chance(15) { oldest = random.below(FoundTree.days) }
        if random.chance(15) { newest = random.below(FoundTree.days) }
        if random.chance(15) { tag = FoundTree.tags[random.below(FoundTree.tags.count)] }
        if random.chance(25) {
            isPhrase = random.chance(30)
            words = (0...random.below(2)).map { _ in
                let word = FoundTree.words[random.below(FoundTree.words.count)]
                return isPhrase ? word : String(word.prefix(1 + random.below(word.count)))
            }
        }
        isHidden = random.chance(50)
        if random.chance(30) { promises = random.chance(50) }
        if random.chance(60) { order = Order.allCases[random.below(5)] }
        isReversed = random.chance(30)
        if random.chance(15) { limit = 1 + random.below(5) }
    }

    func arguments(in root: String) -> [ByteString] {
        var words = ["find", "-0"]
        if let name { words.append("--name=" + name) }
        if !types.isEmpty { words.append("--type=" + types.joined(separator: ",")) }
        if let kind { words.append("--kind=" + kind.rawValue) }
        if let smallest { words.append("--min-size=\(smallest)") }
        if let largest { words.append("--max-size=\(largest)") }
        if let oldest { words.append("--after=" + FoundTree.date(oldest)) }
        if let newest { words.append("--before=" + FoundTree.date(newest)) }
        if let tag { words.append("--tag=" + tag) }
        if let list = self.words {
            let text = list.joined(separator: " ")
            words.append("--text=" + (isPhrase ? "\"\(text)\"" : text))
        }
        if isHidden { words.append("--hidden") }
        if let promises { words.append(promises ? "--promises" : "--local") }
        if let order { words.append("--sort=" + order.rawValue) }
        if isReversed { words.append("--reverse") }
        if let limit { words.append("--limit=\(limit)") }
        let place = Array(root.utf8) + (folder.isEmpty ? [] : [47] + folder)
        return words.map { ByteString($0) } + [ByteString(place)]
    }
}

/// A random tree of items, and what is known of them.
private struct FoundTree {
    struct Item {
        /// Below the desk.
        var path: [UInt8]
        var kind: NaiveQuery.Kind
        var size = 0
        var day = 0
        var tags: [String] = []
        var words: [String] = []
        var isPromise = false

        var name: [UInt8] { path.split(separator: 47).last.map { Array($0) } ?? [] }
        /// What stands behind the last dot, if something stands before that.
        var type: String? {
            guard let dot = name.lastIndex(of: 46), dot > 0 else { return nil }
            return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        }
    }

    static let days = 12
    static let ends = ["txt", "TXT", "md", ".Md", "ß", "Σ", "a b", "日"]
    static let tags = ["red", "RED", "ÄPFEL", "äpfel", "a b", "none"]
    static let words = [
        "alpha", "alphabet", "Beta", "beta2", "Straße", "STRASSE", "ΟΔΟΣ", "οδός", "Καφές", "café",
        "7", "日本",
    ]
    private static let pieces: [[UInt8]] =
        [
            "a", "A", "b", "B", ".", ".", " ", "\n", "\t", "*", "?", "[a]", "\\", "'", "\"", "&",
            "=", "%41",
            "ß", "ẞ", "Σ", "ς", "σ", "é", "e\u{301}", "İ", "ı", "日", "👩‍👩‍👧", "\u{202e}", "-", "+", ",",
            ";",
            ".txt", ".TXT", ".md", ".ß", ".Σ", ".日",
        ].map { Array($0.utf8) } + [[0xff]]

    private(set) var items: [Item] = []
    private(set) var folders: [[UInt8]] = [[]]

    static func date(_ day: Int) -> String { "2020-05-\(day + 10)T12:00" }

    static func pattern(_ random: inout SplitMix) -> String {
        (0...random.below(3)).map { _ in
            String(decoding: pieces[random.below(pieces.count - 1)], as: UTF8.self)
        }.joined(separator: random.chance(30) ? "*" : "")
    }

    private static func name(_ random: inout SplitMix) -> [UInt8] {
        while true {
            let name = (0...random.below(5)).flatMap { _ in pieces[random.below(pieces.count)] }
            let text = String(decoding: name, as: UTF8.self)
            if [".", ".."].contains(text) || text.utf8.last == 126 { continue }
            return name
        }
    }

    /// Makes it.
    init(in desk: Desk, _ random: inout SplitMix) throws {
        let agent = try desk.volume.agent()
        let base = Array(desk.folder.utf8) + [47]
        func system(_ path: [UInt8]) -> [CChar] {
            (base + path + [0]).map { CChar(bitPattern: $0) }
        }
        for _ in 0..<60 {
            let folder = folders[random.below(folders.count)]
            let path = folder + (folder.isEmpty ? [] : [47]) + Self.name(&random)
            var status = stat()
            if lstat(system(path), &status) == 0 || path.count > 200 { continue }
            var item = Item(path: path, kind: .documents)
            switch random.below(10) {
            case 0, 1:
                item.kind = .folders
                guard mkdir(system(path), 0o755) == 0 else { continue }
                folders.append(path)
            case 2:
                item.kind = .all
                item.size = 1 + random.below(30)
                symlink(String(repeating: "x", count: item.size), system(path))
            case 3:
                // Another name for one whose end says the same.
                guard let other = items.last(where: { $0.kind == .documents }),
                    other.type == item.type
                else { continue }
                item = other
                item.path = path
                guard link(system(other.path), system(path)) == 0 else { continue }
            default:
                item.words = (0..<random.below(6)).map { _ in
                    Self.words[random.below(Self.words.count)]
                }
                let content = Array(item.words.joined(separator: " ").utf8)
                item.size = content.count
                let file = open(system(path), O_WRONLY | O_CREAT | O_EXCL, 0o644)
                if file < 0 { continue }
                _ = write(file, content, content.count)
                close(file)
                if random.chance(40) {
                    item.tags = (0...random.below(2)).map { _ in
                        Self.tags[random.below(Self.tags.count - 1)]
                    }
                    let tags = item.tags.joined(separator: ",")
                    agent.setAttribute(ByteString(path), "user.xdg.tags", ByteString(tags))
                }
            }
            items.append(item)
        }
        // From below: what is made in a folder changes its time. Names of one document have one.
        for index in items.indices.reversed() {
            var item = items[index]
            item.day = random.below(Self.days)
            var status = stat()
            lstat(system(item.path), &status)
            let names = items.indices.filter {
                var other = stat()
                return lstat(system(items[$0].path), &other) == 0 && other.st_ino == status.st_ino
            }
            let time = timespec(tv_sec: 1_589_112_000 + 86_400 * item.day, tv_nsec: 0)
            utimensat(AT_FDCWD, system(item.path), [time, time], AT_SYMLINK_NOFOLLOW)
            for name in names { items[name].day = item.day }
        }
    }

    /// Leaves some documents as promises. Their words stay known.
    mutating func evict(in desk: Desk, _ random: inout SplitMix) throws {
        // Waits for the words of all.
        _ = try desk.run("find", "--text", "none")
        let agent = try desk.volume.agent()
        for index in items.indices {
            let item = items[index]
            guard item.kind == .documents, item.size > 0, random.chance(40) else { continue }
            if item.isPromise { continue }
            let path = ByteString(item.path)
            // Not before it is in the store.
            waitUntil { agent.attribute(path, "user.shapeedit.state") != "dirty" }
            _ = try desk.run(bytes: "evict", "--", path)
            let inode = Self.inode(item.path, in: desk)
            for other in items.indices where Self.inode(items[other].path, in: desk) == inode {
                items[other].isPromise = true
            }
        }
    }

    private static func inode(_ path: [UInt8], in desk: Desk) -> ino_t {
        var status = stat()
        lstat((Array(desk.path("").utf8) + path + [0]).map { CChar(bitPattern: $0) }, &status)
        return status.st_ino
    }

    /// What a search has to give, in its order.
    func found(_ query: NaiveQuery) -> [[UInt8]] {
        var found = items.filter { item in
            guard item.path.starts(with: query.folder.isEmpty ? [] : query.folder + [47]) else {
                return false
            }
            let below = item.path.dropFirst(query.folder.count).split(separator: 47)
            if !query.isHidden, below.contains(where: { $0.first == 46 }) { return false }
            let kind = query.kind ?? .documents
            if kind != .all, item.kind != kind { return false }
            if let smallest = query.smallest, item.size < smallest { return false }
            if let largest = query.largest, item.size > largest { return false }
            if let oldest = query.oldest, item.day < oldest { return false }
            if let newest = query.newest, item.day >= newest { return false }
            if let promises = query.promises, item.isPromise != promises { return false }
            if let tag = query.tag,
                !item.tags.contains(where: { $0.lowercased() == tag.lowercased() })
            {
                return false
            }
            if let name = query.name, !Self.matches(item.name, name) { return false }
            if !query.types.isEmpty {
                let ends = query.types.map { end in
                    let plain = end.filter { !$0.isWhitespace }
                    return (plain.hasPrefix(".") ? String(plain.dropFirst()) : plain).lowercased()
                }
                guard let type = item.type, ends.contains(type) else { return false }
            }
            return query.words.map { Self.has($0, query.isPhrase, in: item) } ?? true
        }
        found.sort {
            Self.key($0, query.order ?? .path).lexicographicallyPrecedes(
                Self.key($1, query.order ?? .path))
        }
        if query.isReversed { found.reverse() }
        return Array(found.map(\.path).prefix(query.limit ?? .max))
    }

    /// Bytes whose order is that of the results.
    private static func key(_ item: Item, _ order: NaiveQuery.Order) -> [UInt8] {
        func text(_ bytes: [UInt8]) -> [UInt8] {
            // As the program has a byte that is no UTF-8.
            bytes.flatMap { $0 == 0xff ? [0xef, 0xb7, 0x9f, 0xef, 0xb7, 0xaf] : [$0] }
        }
        func number(_ number: Int) -> [UInt8] {
            (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let first: [UInt8] =
            switch order {
            case .path: []
            case .name: text(item.name) + [0]
            case .size: number(item.size)
            case .modified: number(item.day)
            case .type:
                String(
                    decoding: text(
                        item.name.lastIndex(of: 46).map {
                            $0 > 0 ? Array(item.name[($0 + 1)...]) : []
                        } ?? []),
                    as: UTF8.self
                ).lowercased().utf8 + [0]
            }
        return first + text(item.path)
    }

    // MARK: Names and words

    private static func matches(_ name: [UInt8], _ pattern: String) -> Bool {
        func folded(_ text: String) -> [Character] {
            text.lowercased().map { $0 == "ς" ? "σ" : $0 }
        }
        let (name, wanted) = (folded(String(decoding: name, as: UTF8.self)), folded(pattern))
        func matches(_ name: ArraySlice<Character>, _ wanted: ArraySlice<Character>) -> Bool {
            guard let next = wanted.first else { return name.isEmpty }
            if next == "*" {
                return (name.startIndex...name.endIndex).contains {
                    matches(name[$0...], wanted.dropFirst())
                }
            }
            guard let first = name.first, next == "?" || next == first else { return false }
            return matches(name.dropFirst(), wanted.dropFirst())
        }
        let isWhole = wanted.contains("*") || wanted.contains("?")
        return matches(name[...], (isWhole ? wanted : ["*"] + wanted + ["*"])[...])
    }

    private static func plain(_ word: String) -> String {
        let letters: [Character: String] = ["ß": "ss", "ς": "σ", "ό": "ο", "έ": "ε", "é": "e"]
        return word.lowercased().map { letters[$0] ?? String($0) }.joined()
    }

    private static func has(_ words: [String], _ isPhrase: Bool, in item: Item) -> Bool {
        guard item.kind == .documents, ["txt", "md"].contains(item.type) else { return false }
        let (kept, wanted) = (item.words.map(plain), words.map(plain))
        if isPhrase {
            return kept.indices.contains { kept[$0...].starts(with: wanted) }
        }
        return wanted.allSatisfy { word in kept.contains { $0.hasPrefix(word) } }
    }
}
