extension String {
    /// The text with blanks for line ends.
    var onOneLine: String { String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) }
}
