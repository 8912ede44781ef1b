/// Finds out how a terminal takes pictures: it is asked, and its environment is the fallback.
///
/// A pure value. Send ``question``, hand in every reply, and take ``graphics`` when
/// ``isAnswered`` or after ``timeLimit``; an answer that comes later may still improve it.
public struct GraphicsQuery: Hashable, Sendable {
    /// The variables of the environment that count.
    public static let variables = [
        "TERM", "COLORTERM", "NO_COLOR", "TERM_PROGRAM", "LC_TERMINAL", "TMUX", "SSH_CONNECTION",
    ]
    /// How long to wait for answers, in milliseconds.
    public static let timeLimit = 400
    /// How long who does not read on waits for answers over a network, in milliseconds: a later one is
    /// typed into the shell.
    private static let remoteTimeLimit = 2_000

    private let wanted: GraphicsProtocol?
    private let terminal: String
    private let environment: [String: String]
    private var replies: [TerminalReply] = []
    /// Whether the last question has been answered. Terminals answer in order.
    public private(set) var isAnswered: Bool

    /// A query; `wanted` is what the user asked for, and wins.
    ///
    /// - Parameter environment: the ``variables`` that are set.
    public init(wanted: GraphicsProtocol? = nil, environment: [String: String]) {
        self.wanted = wanted
        self.environment = environment
        terminal = environment["TERM"] ?? ""
        isAnswered = GraphicsQuery.isSilent(terminal)
    }

    /// Terminals that print questions they do not understand.
    private static func isSilent(_ terminal: String) -> Bool {
        ["linux", "vt52", "ansi", "cons25", "sun"].contains(terminal)
    }

    /// How long to wait for answers, in milliseconds, for who does not read on after that.
    var longestWait: Int {
        environment["SSH_CONNECTION"] == nil ? Self.timeLimit : Self.remoteTimeLimit
    }

    /// What to send: a picture of one pixel that is not shown, the name, the size of cells, and
    /// last what every terminal answers.
    public var question: [UInt8] {
        if GraphicsQuery.isSilent(terminal) { return [] }
        // tmux and screen take such a string for a title.
        let picture = isMultiplexed ? "" : "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\"
        return Array((picture + "\u{1B}[>0q\u{1B}[16t\u{1B}[c").utf8)
    }

    /// Takes an answer into account.
    public mutating func take(_ reply: TerminalReply) {
        if case .attributes = reply { isAnswered = true }
        if replies.count < 16 { replies.append(reply) }
    }

    /// The best that is known to work.
    public var graphics: GraphicsProtocol {
        if let wanted { return wanted }
        if replies.contains(.kittyGraphics) { return .kitty }
        if isITerm { return .iterm }
        for case .attributes(let attributes) in replies where attributes.dropFirst().contains(4) {
            return .sixel
        }
        return hasColors ? .blocks : .none
    }

    /// The size of a cell in pixels, if the terminal told: in an answer, or with its own size.
    public func cellSize(in size: TerminalDevice.Size) -> (width: Int, height: Int)? {
        for case .cellSize(let width, let height) in replies where width > 0 && height > 0 {
            return (width, height)
        }
        guard size.width >= size.columns, size.height >= size.rows else { return nil }
        return (size.width / size.columns, size.height / size.rows)
    }

    private var isMultiplexed: Bool {
        environment["TMUX"] != nil
            || ["tmux", "screen"].contains { terminal == $0 || terminal.hasPrefix($0 + "-") }
    }

    private var isITerm: Bool {
        for case .version(let name) in replies {
            return name.hasPrefix("iTerm2") || name.hasPrefix("WezTerm")
        }
        // Inside tmux the variables are those of the terminal around it.
        if environment["TMUX"] != nil { return false }
        return environment["TERM_PROGRAM"] == "iTerm.app" || environment["LC_TERMINAL"] == "iTerm2"
    }

    private var hasColors: Bool {
        // Who wants none gets no pictures made of coloured characters either (no-color.org).
        if environment["NO_COLOR"]?.isEmpty == false { return false }
        if ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") { return true }
        if terminal.hasSuffix("-mono") || terminal.hasSuffix("-m") { return false }
        let able = [
            "xterm", "tmux", "linux", "foot", "alacritty", "konsole", "gnome", "vte", "kitty",
            "st", "rxvt", "wezterm", "ghostty", "contour", "mintty",
        ]
        return terminal.contains("256color") || terminal.contains("direct")
            || able.contains { terminal == $0 || terminal.hasPrefix($0 + "-") }
    }
}
