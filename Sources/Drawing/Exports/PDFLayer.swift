/// A PDF file of one page with its table as text, taken apart into its objects.
struct PDFLayer {
    private let file: [UInt8]
    /// Where each object is, by number; the first is none.
    let objects: [Range<Int>]
    /// The page's contents and resources, by their numbers.
    let content: Int
    let resources: Int
    /// Objects that only lead to the page.
    private let frame: Set<Int>

    /// Nil if the file is made in another way.
    init?(_ file: [UInt8]) {
        guard let table = Self.table(of: file) else { return nil }
        objects = table.objects
        self.file = file
        func dictionary(_ number: Int) -> String? {
            guard table.objects.indices.contains(number) else { return nil }
            return String(decoding: file[table.objects[number]], as: UTF8.self)
        }
        let trailer = String(decoding: file[table.end...], as: UTF8.self)
        guard let root = trailer.reference("/Root"),
            let pages = dictionary(root)?.reference("/Pages"),
            let page = dictionary(pages)?.reference("/Kids ["),
            let contents = dictionary(page)?.reference("/Contents"),
            let resources = dictionary(page)?.reference("/Resources"),
            objects.indices.contains(contents), objects.indices.contains(resources)
        else { return nil }
        content = contents
        self.resources = resources
        frame = [root, pages, page, trailer.reference("/Info") ?? 0]
    }

    /// Whether an object belongs to what is painted.
    func isPart(_ number: Int) -> Bool { !objects[number].isEmpty && !frame.contains(number) }

    /// An object: its text, up to its stream if it has one, and all after that.
    func object(_ number: Int) -> (text: String, stream: ArraySlice<UInt8>) {
        let range = objects[number]
        let bytes = file[range]
        // On a line of its own: names of fonts may have the word in them.
        let mark = Array("\nstream\n".utf8)
        let start = range.dropLast(mark.count - 1).first {
            bytes[$0] == mark[0] && bytes[$0..<$0 + mark.count].elementsEqual(mark)
        }
        let end = start ?? range.upperBound
        return (String(decoding: bytes[..<end], as: UTF8.self), bytes[end...])
    }

    /// Where the objects of a file are, and where the table of them begins.
    private static func table(of file: [UInt8]) -> (objects: [Range<Int>], end: Int)? {
        let tail = String(decoding: file.suffix(64), as: UTF8.self)
        let words = tail.split(whereSeparator: \.isWhitespace)
        guard words.count >= 3, words[words.count - 3] == "startxref",
            let end = Int(words[words.count - 2]), file.indices.contains(end)
        else { return nil }
        var lines = file[end...].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        )
        .map { String(decoding: $0, as: UTF8.self) }[...]
        guard lines.popFirst() == "xref",
            let header = lines.popFirst()?.split(separator: " "), header.count == 2,
            header[0] == "0", let count = Int(header[1]), (1...lines.count).contains(count)
        else { return nil }
        var starts: [Int?] = []
        for line in lines.prefix(count) {
            let words = line.split(separator: " ")
            guard words.count == 3, let start = Int(words[0]) else { return nil }
            starts.append(words[2] == "n" && start < end ? start : nil)
        }
        // Each ends where the next begins.
        let sorted = starts.compactMap { $0 }.sorted() + [end]
        let next = Dictionary(zip(sorted, sorted.dropFirst()), uniquingKeysWith: { $1 })
        return (starts.map { start in start.map { $0..<(next[$0] ?? end) } ?? 0..<0 }, end)
    }
}

extension String {
    /// The number of the object that a key leads to.
    fileprivate func reference(_ key: String) -> Int? {
        var rest = self[...]
        while let range = rest.firstRange(of: key) {
            rest = rest[range.upperBound...]
            let words = rest.prefix(32).split(whereSeparator: \.isWhitespace)
            if words.count >= 3, words[1] == "0", words[2].hasPrefix("R"),
                let number = Int(words[0])
            {
                return number
            }
        }
        return nil
    }

    /// An object's text with greater numbers, its own and those it leads to.
    func shifted(by base: Int) -> String {
        var words = split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        for index in words.indices.dropLast(2)
        where words[index + 1] == "0" && ["R", "obj"].contains(words[index + 2].firstWord) {
            guard let start = words[index].lastIndex(where: { !$0.isWholeNumber }) else {
                words[index] = Int(words[index]).map { String($0 + base) } ?? words[index]
                continue
            }
            let after = words[index].index(after: start)
            guard let number = Int(words[index][after...]) else { continue }
            words[index] = words[index][..<after] + String(number + base)
        }
        return words.joined(separator: " ")
    }

    /// What it begins with, up to a character that is no letter.
    private var firstWord: Substring { prefix { $0.isLetter } }

    /// A dictionary's text with more entries.
    func opening(_ entries: String) -> String {
        guard let range = firstRange(of: "<<") else { return self }
        return self[..<range.upperBound] + " " + entries + self[range.upperBound...]
    }
}
