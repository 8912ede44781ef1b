/// A file of many slides, or of the addresses of many.
public struct SlideBulkFile: Hashable, Sendable {
    /// What the file holds of each slide.
    public enum Entries: Hashable, Sendable {
        /// The slides themselves (`bulkAggregateFile`).
        case slides([Slide])
        /// Where they are to be had (`bulkURLFile`).
        case addresses([String])
    }

    /// What it is about.
    public var summary: String?
    /// What the names of the slides begin with.
    public var fileNameBase: String
    /// The version read: the highest in the file.
    public var version: Version
    /// The slides or addresses of that version, in order.
    public var entries: Entries

    /// The name of a slide's file; entries count from 1.
    public func fileName(_ number: Int) -> String { "\(fileNameBase)\(number).slide" }

    /// Reads a bulk file as people write them; what had to be repaired is listed.
    public static func read(
        _ bytes: [UInt8]
    ) throws(DocumentError) -> (file: SlideBulkFile, repairs: [JSONRepair]) {
        let (value, repairs) = try JSONValue.read(
            bytes, isTolerant: true, atMost: Limits.bulkMemory)
        return (try SlideBulkFile(value), repairs)
    }

    /// Reads the JSON of a bulk file.
    public init(_ json: JSONValue) throws(DocumentError) {
        guard let root = json.object, let type = root["type"]?.string,
            let isInline = ["bulkAggregateFile": true, "bulkURLFile": false][type]
        else {
            throw DocumentError(
                .otherFormat, at: .path("type"),
                "not a bulk file: bulkAggregateFile or bulkURLFile is expected")
        }
        guard let base = root["filenameBase"]?.string, SlideBulkFile.isFileName(base) else {
            throw DocumentError(
                .badValue, at: .path("filenameBase"),
                "the beginning of a file's name is expected, without '/'")
        }
        let versions = root.members.compactMap { member in
            Version(member.key).map { ($0, member) }
        }
        guard let (version, member) = versions.max(by: { $0.0 < $1.0 }) else {
            throw DocumentError(.missing, "no version: a key such as 1 or 1.10 is expected")
        }
        guard let values = member.value.array else {
            throw DocumentError(
                .wrongType, at: .path(member.key),
                "\(member.value.typeName) where an array is expected")
        }
        guard values.count <= Limits.bulkEntries else {
            throw DocumentError(
                .tooLarge, at: .path(member.key), "more than \(Limits.bulkEntries) entries")
        }
        summary = root["description"]?.string
        fileNameBase = base
        self.version = version
        entries =
            isInline
            ? .slides(try SlideBulkFile.slides(values, at: member.key))
            : .addresses(try SlideBulkFile.addresses(values, at: member.key))
    }

    private static func slides(
        _ values: [JSONValue], at path: String
    ) throws(DocumentError) -> [Slide] {
        var slides: [Slide] = []
        for (index, value) in values.enumerated() {
            do throws(DocumentError) {
                slides.append(try Slide(value))
            } catch {
                throw DocumentError(error.kind, at: .path("\(path)[\(index)]"), "\(error)")
            }
        }
        return slides
    }

    private static func addresses(
        _ values: [JSONValue], at path: String
    ) throws(DocumentError) -> [String] {
        var addresses: [String] = []
        for (index, value) in values.enumerated() {
            guard let address = value.string else {
                throw DocumentError(
                    .wrongType, at: .path("\(path)[\(index)]"),
                    "\(value.typeName) where an address is expected")
            }
            addresses.append(address)
        }
        return addresses
    }

    /// Whether a text can begin the name of a file in the folder meant and in no other.
    private static func isFileName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200 && !text.hasPrefix(".")
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "/") && $0 != 0x7f }
    }
}
