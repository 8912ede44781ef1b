extension Substring {
    /// Without the white space at both ends.
    var trimmed: Substring {
        var line = drop { $0.isWhitespace }
        while line.last?.isWhitespace == true { line.removeLast() }
        return line
    }
}
