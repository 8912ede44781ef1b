/// A request to a server, ready to be sent.
struct HTTPRequest {
    enum Body {
        case none
        case bytes([UInt8])
        /// A range of a source.
        case stream(any BlobSource, Range<Int64>)
    }

    var method: String
    /// Absolute, percent-encoded; sent as it is.
    var url: String
    var headers: [(name: String, value: String)] = []
    var body: Body = .none
    var login: Login?
    /// Bytes of the answer's body that are kept if they are not a blob's.
    var bodyLimit = 64 * 1024

    init(_ method: String, _ url: String) {
        self.method = method
        self.url = url
    }
}

/// A user's name and password for HTTP, and the ways in which they may be sent.
struct Login {
    var credentials: Credentials
    var scheme: LoginScheme
}

/// How a server wants to be told the password.
enum LoginScheme: Sendable {
    /// Not known yet: the first request is sent without, and the answer tells.
    case unknown
    case basic
    case digest
}

/// Status and header of an answer.
struct HTTPHead {
    var status = 0
    /// The lines of the fields as they came, each with its end. Only what is asked for is made into
    /// text: that is little of each answer, and small contents come with thousands of answers.
    private var lines: [UInt8] = []

    private static let lineFeed = UInt8(ascii: "\n")

    /// Takes the line of a field in.
    mutating func add(_ line: some Collection<UInt8>) {
        lines.append(contentsOf: line)
        if lines.last != Self.lineFeed { lines.append(Self.lineFeed) }
    }

    /// The value of a field; of several of one name the last.
    ///
    /// - Parameter name: in lower case.
    func field(_ name: String) -> String? {
        var found: ArraySlice<UInt8>?
        var rest = lines[...]
        while let end = rest.firstIndex(of: Self.lineFeed) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                line[..<colon].elementsEqual(name.utf8, by: { Self.lowerCase($0) == $1 })
            else { continue }
            found = line[(colon + 1)...]
        }
        return found.map { value in
            // Blanks at both ends are none of it.
            let core = value.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank)
                .reversed()
            return String(decoding: core, as: UTF8.self).filter { !$0.isNewline }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    private static func lowerCase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// `Content-Length`, if it is a number.
    var contentLength: Int64? { field("content-length").flatMap { Int64($0) } }

    /// First byte, last byte and size of `Content-Range: bytes 0-4/10`.
    var contentRange: (range: Range<Int64>, size: Int64?)? {
        guard let text = field("content-range"), text.prefix(6).lowercased() == "bytes " else {
            return nil
        }
        let parts = text.dropFirst(6).split(separator: "/")
        let ends = (parts.first ?? "").split(separator: "-").compactMap { Int64($0) }
        guard parts.count == 2, ends.count == 2, ends[0] >= 0, ends[1] >= ends[0], ends[1] < .max
        else { return nil }
        return (ends[0]..<ends[1] + 1, Int64(parts[1]))
    }

    /// Seconds of `Retry-After`, which is a number or a date; at most a day.
    func retryAfter(now: Int64) -> Double? {
        guard let text = field("retry-after") else { return nil }
        let seconds = Int64(text) ?? HTTPDate.seconds(text).map { $0 - now }
        return seconds.map { Double(min(max($0, 0), 86_400)) }
    }
}

/// An answer whose body, if it is not a blob's, has been collected.
struct HTTPAnswer {
    var head: HTTPHead
    /// Empty if the bytes went to a ``BlobReceiver``.
    var body: [UInt8]
    /// The body was longer than the request's limit; what came after is lost.
    var isCut: Bool
    /// How the server wants to be told the password, where it said so.
    var wantedScheme: LoginScheme?
}
