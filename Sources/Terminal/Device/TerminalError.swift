/// Why there is no terminal to work on.
public enum TerminalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Standard input or output is something else.
    case notATerminal(String)
    /// Standard input is one and standard output another.
    case otherTerminal
    /// It cannot place the cursor; its name.
    case dumb(String)
    /// A system call failed: what was tried and why not.
    case system(String)

    /// One line for people.
    public var description: String {
        switch self {
        case .notATerminal(let which):
            "\(which) is not a terminal; use `set`, `add` and the other commands in scripts"
        case .otherTerminal: "standard input and output are different terminals"
        case .dumb(let name):
            name.isEmpty
                ? "TERM does not say what terminal this is"
                : "the terminal \"\(name)\" cannot show a whole screen"
        case .system(let words): words
        }
    }
}
